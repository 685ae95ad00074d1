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

func TestMostMetricsAreReadTheQuickWay(t *testing.T) {
	t.Parallel()
	const text = `{"samples":[{"name":"gpu_free","value":3,"labels":{"gpu":"0"}},{"name":"up","value":1,"unit":"ratio"}]}`
	if !plainMetrics([]byte(text), new(Metrics)) {
		t.Errorf("%s is left to the general way", text)
	}
}
