package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// definitionsTimeout bounds the wait for the API server to serve what was
// created.
const definitionsTimeout = time.Minute

// InstallDefinitions creates the resource definitions in dir on a hub, or
// brings them up to date, and returns once they are served.
func InstallDefinitions(ctx context.Context, admin *rest.Config, dir string) error {
	client, err := apiextensions.NewForConfig(admin)
	if err != nil {
		return err
	}
	definitions, err := readDefinitions(dir)
	if err != nil {
		return err
	}
	for _, d := range definitions {
		if err := applyDefinition(ctx, client.CustomResourceDefinitions(), d); err != nil {
			return fmt.Errorf("resource definition %s: %w", d.Name, err)
		}
	}
	for _, d := range definitions {
		if err := waitForDefinition(ctx, client.CustomResourceDefinitions(), d.Name); err != nil {
			return fmt.Errorf("resource definition %s is not served: %w", d.Name, err)
		}
	}
	return nil
}

func readDefinitions(dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no resource definitions in " + dir + ": run 'make hub' in the repository")
	}
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		definitions = append(definitions, d)
	}
	return definitions, nil
}

func applyDefinition(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, d *apiextensionsv1.CustomResourceDefinition) error {
	_, err := client.Create(ctx, d, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there, err := client.Get(ctx, d.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	d.ResourceVersion = there.ResourceVersion
	_, err = client.Update(ctx, d, metav1.UpdateOptions{})
	return err
}

func waitForDefinition(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, name string) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, definitionsTimeout, true, func(ctx context.Context) (bool, error) {
		d, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range d.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}
