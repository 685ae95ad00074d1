package dynamic

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// MaxConfig bounds what a configuration endpoint answers, in bytes.
const MaxConfig = 256 << 10

// DecodeConfig reads what a configuration endpoint answered. Unknown fields
// say nothing, as OCM has it; texts are cut where they are longer than
// anybody reads.
func DecodeConfig(body []byte) (*schemas.SyncedConfig, *Failure) {
	if f := checkJSON(body); f != nil {
		return nil, f
	}
	var c schemas.SyncedConfig
	if err := json.Unmarshal(body, &c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, Failf(BadAnswer, "the configuration's %s is a JSON %s, want %s", orWhole(wrong.Field), wrong.Value, wrong.Type)
		}
		return nil, Failf(BadAnswer, "the configuration is not taken: %v", err)
	}
	for _, text := range []*string{
		&c.Name, &c.Description, &c.Source.Type, &c.Source.Host, &c.Source.Path,
		&c.Scoring.Host, &c.Scoring.Path, &c.Scoring.Params.Name,
	} {
		*text = cut(strings.ToValidUTF8(*text, "�"), schemas.MaxDynamicText)
	}
	if len(c.Source.Params.Query) > schemas.MaxDynamicQuery {
		return nil, Failf(BadConfig, "the configuration's source.params.query has %d bytes, at most %d are taken", len(c.Source.Params.Query), schemas.MaxDynamicQuery)
	}
	return &c, nil
}

func orWhole(field string) string {
	if field == "" {
		return "whole"
	}
	return field
}
