package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/starter"
)

// started is what scorer init says that it wrote.
type started struct {
	Dir      string   `json:"dir"`
	Name     string   `json:"name"`
	Language string   `json:"language"`
	Files    []string `json:"files"`
}

func (a *app) newScorerInit() *cobra.Command {
	language, name := "", ""
	c := &cobra.Command{
		Use:   "init --lang go|python DIR",
		Short: "Write a scoring service to begin with",
		Long: `Write a small scoring service that speaks OCM's scoring API: its logic in a file
of its own, its tests, a Dockerfile, and a DynamicScorer that makes it known to
the hub. DIR must be empty, or not be there.`,
		Example: "  spokewire scorer init --lang python idle-gpus",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := initScorer(language, name, args[0])
			if err != nil {
				return err
			}
			return a.print(c.OutOrStdout(), s, s.write)
		},
	}
	c.Flags().StringVar(&language, "lang", "", strings.Join(starter.Languages(), " or "))
	c.Flags().StringVar(&name, "name", "", "what the service and its score are called (default: the last part of DIR)")
	a.addOutput(c)
	return c
}

func initScorer(language, name, dir string) (*started, error) {
	if language == "" {
		return nil, errors.New("which language? Give --lang " + strings.Join(starter.Languages(), " or --lang "))
	}
	if name == "" {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		name = filepath.Base(whole)
	}
	files, err := starter.Files(language, name)
	if err != nil {
		return nil, fmt.Errorf("%w (--lang and --name say otherwise)", err)
	}
	written, err := starter.Write(dir, files)
	if err != nil {
		return nil, err
	}
	return &started{Dir: dir, Name: name, Language: language, Files: written}, nil
}

func (s *started) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "wrote %s, a scoring service, to %s: %s\nREADME.md says how to test, run and deploy it\n", s.Name, s.Dir, strings.Join(s.Files, " "))
	return err
}
