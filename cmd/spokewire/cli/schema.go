package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (a *app) newSchema() *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Event types, their JSON Schemas, and whether a file keeps to them",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newSchemaList(), a.newSchemaShow(), a.newSchemaValidate())
	return c
}

// eventType is one line of schema list.
type eventType struct {
	Type      string `json:"type"`
	Tombstone bool   `json:"tombstone"`
	Schema    string `json:"schema"`
}

func (a *app) newSchemaList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the event types",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var types []eventType
			for _, t := range schemas.Types() {
				types = append(types, eventType{Type: t, Tombstone: schemas.IsDeleted(t), Schema: events.SchemaURI(t)})
			}
			return a.print(c.OutOrStdout(), types, func(w io.Writer) error {
				rows := table.New(w, "TYPE", "TOMBSTONE", "DATASCHEMA")
				for _, t := range types {
					rows.Add(t.Type, yesNo(t.Tombstone), t.Schema)
				}
				return rows.Flush()
			})
		},
	}
	a.addOutput(c)
	return c
}

func (a *app) newSchemaShow() *cobra.Command {
	c := &cobra.Command{
		Use:     "show TYPE",
		Short:   "Print the JSON Schema of an event type's data",
		Example: "  spokewire schema show " + schemas.TypeMetricsObserved,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := schemas.JSONSchema(args[0])
			if err != nil {
				return fmt.Errorf("%w (spokewire schema list shows the types)", err)
			}
			if a.output == outputYAML {
				if text, err = yaml.JSONToYAML(text); err != nil {
					return err
				}
			}
			_, err = c.OutOrStdout().Write(text)
			return err
		},
	}
	a.addOutput(c)
	return c
}
