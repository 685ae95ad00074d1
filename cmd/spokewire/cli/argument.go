package cli

import "github.com/spf13/cobra"

// checked is for a command of one argument, which is checked before anything
// is connected to.
func checked(check func(argument string) error) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(1)(c, args); err != nil {
			return err
		}
		return check(args[0])
	}
}

// optional is checked for an argument that may be left out.
func optional(check func(argument string) error) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return checked(check)(c, args)
	}
}

// placementName checks NAMESPACE/NAME or NAME.
func placementName(text string) error {
	_, _, err := parsePlacement(text)
	return err
}

// letterID checks SERVICE/STREAM-SEQUENCE.
func letterID(text string) error {
	_, err := parseLetter(text)
	return err
}
