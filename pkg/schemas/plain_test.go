package schemas

import (
	"reflect"
	"testing"
)

// FuzzPlain holds the quick way against the general one: what it takes, the
// other takes too, and reads the same from it.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		`{"samples":[]}`,
		`{"samples":[{"name":"a","value":1}]}`,
		` {"samples" : [ {"name":"a","value":-1.5e+3,"labels":{"x":"y","z":""},"unit":"bytes"} , {"value":0.25,"name":"ä"} ] } `,
		`{"samples":[{"name":"a","value":01}]}`,
		`{"samples":[{"name":"a","value":1e999}]}`,
		`{"samples":[{"name":"a","value":null}]}`,
		`{"samples":[{"name":"a\u0062","value":1}]}`,
		`{"samples":[{"name":"a","value":1,"unit":"\"\\\/\n\t\r\b\f"}]}`,
		`{"samples":[{"name":"a","value":1,"unit":"\x"}]}`,
		`{"samples":[{"name":"a","name":"b","value":1}]}`,
		`{"samples":[{"name":"a","value":1,"labels":{"x":"1","x":"2"}}]}`,
		`{"samples":[{"name":"a","value":1}]}x`,
		"{\"samples\":[]}\x00",
		"{\"samples\":[{\"name\":\"\xff\",\"value\":1}]}",
		`{"samples":[{"name":"a","value":1},]}`,
		`{"samples":[{"name":"a","value":.5}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, general Metrics
		if !plainMetrics(data, &quick) {
			return
		}
		if err := unmarshalAny(data, &general); err != nil {
			t.Fatalf("the quick way takes what the general way refuses: %v", err)
		}
		if !reflect.DeepEqual(quick, general) {
			t.Errorf("the quick way reads %+v, the general way %+v", quick, general)
		}
	})
}

const plainScoreText = `{"cluster":"c","scorer":"s","items":[{"name":"i","value":-5,"raw":-4.5,"reason":"Computed","message":"a\"b","inputs":[` +
	`{"kind":"metric","name":"gpu{node=\"n1\"}","value":"3","subject":"sw.metric.c.p","sequence":12,"observedAt":"2026-12-01T10:00:00.5Z","first":3,"points":4}]},` +
	`{"name":"j","reason":"NoSample"}],"validUntil":"2026-12-01T10:01:00Z","hubOff":true,"origin":{"id":"x","subject":"y","receivedAt":"2026-12-01T10:00:00Z"},"basis":{"SW_HUB":7,"SW_METRICS":0}}`

// FuzzPlainScore does the same for scores.
func FuzzPlainScore(f *testing.F) {
	for _, text := range []string{
		plainScoreText,
		`{"cluster":"c","scorer":"s","items":[{"name":"i","value":1,"reason":"R"}],"validFor":"60s"}`,
		`{"cluster":"c","scorer":"s","items":[],"hubOff":false,"basis":{}}`,
		`{"cluster":"c","scorer":"s","items":[{"name":"i","value":01,"reason":"R","inputs":[]}],"validFor":"60"}`,
		`{"cluster":"c","scorer":"s","items":[{"name":"i","value":1.0,"reason":"R"}],"validFor":60}`,
		`{"cluster":"c","scorer":"s","items":[{"name":"i","value":-0,"reason":"R"}],"validUntil":"2026-12-01T10:01:60Z"}`,
		`{"cluster":"c","scorer":"s","items":[{"name":"i","value":99999999999,"reason":"R"}],"validUntil":"0001-01-01T00:00:00Z"}`,
		`{"cluster":"c","cluster":"d","scorer":"s","items":[{"reason":"\u0041\n\/\b\f\r\t"}],"basis":{"a":1,"a":2}}`,
		`{"cluster":"c","scorer":"s","items":[{"name":"i","reason":"R","inputs":[{"kind":"k","name":"n","value":"v","sequence":-1,"observedAt":"2026-12-01"}]}]}`,
		`{"cluster":"c\","scorer":"s","items":[]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, general Score
		if !plainScore(data, &quick) {
			return
		}
		if err := unmarshalAny(data, &general); err != nil {
			t.Fatalf("the quick way takes what the general way refuses: %v", err)
		}
		if !reflect.DeepEqual(quick, general) {
			t.Errorf("the quick way reads %+v, the general way %+v", quick, general)
		}
	})
}

func TestMostScoresAreReadTheQuickWay(t *testing.T) {
	t.Parallel()
	if !plainScore([]byte(plainScoreText), new(Score)) {
		t.Errorf("%s is left to the general way", plainScoreText)
	}
}

func TestMostMetricsAreReadTheQuickWay(t *testing.T) {
	t.Parallel()
	const text = `{"samples":[{"name":"gpu_free","value":3,"labels":{"gpu":"0"}},{"name":"up","value":1,"unit":"ratio"}]}`
	if !plainMetrics([]byte(text), new(Metrics)) {
		t.Errorf("%s is left to the general way", text)
	}
}
