package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/internal/bridge"
)

// definitionsTimeout bounds the wait for the API server to serve what was
// created.
const definitionsTimeout = time.Minute

// InstallDefinitions creates the resource definitions in dir on a hub, or
// brings them up to date, and returns once they are served.
func InstallDefinitions(ctx context.Context, admin *rest.Config, dir string) error {
	definitions, err := readDefinitions(os.DirFS(dir))
	if err != nil {
		return err
	}
	if len(definitions) == 0 {
		return errors.New("no resource definitions in " + dir + ": run 'make hub' in the repository")
	}
	return install(ctx, admin, definitions)
}

// InstallDynamicScoring creates the resource definitions of OCM's dynamic
// scoring on a hub, or brings them up to date. Those that carry no mark of
// ours, as upstream's, stay.
func InstallDynamicScoring(ctx context.Context, admin *rest.Config) error {
	files, err := k8s.DynamicScoring()
	if err != nil {
		return err
	}
	definitions, err := readDefinitions(files)
	if err != nil {
		return err
	}
	client, err := apiextensions.NewForConfig(admin)
	if err != nil {
		return err
	}
	var wanted []*apiextensionsv1.CustomResourceDefinition
	for _, d := range definitions {
		there, err := client.CustomResourceDefinitions().Get(ctx, d.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err), err == nil && there.Labels[bridge.LabelManagedBy] == bridge.ManagedBy:
			wanted = append(wanted, d)
		case err != nil:
			return fmt.Errorf("resource definition %s: %w", d.Name, err)
		}
	}
	return install(ctx, admin, wanted)
}

func install(ctx context.Context, admin *rest.Config, definitions []*apiextensionsv1.CustomResourceDefinition) error {
	client, err := apiextensions.NewForConfig(admin)
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

func readDefinitions(dir fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, err
	}
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := fs.ReadFile(dir, file)
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
