package receive

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/spokewire/spokewire/internal/authority"
	"github.com/spokewire/spokewire/internal/promquery/promtest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// start runs a Receiver until the test ends.
func start(t *testing.T, source config.Source, change ...func(*Receiver)) *Receiver {
	t.Helper()
	source.Name = "pushed"
	source.Default()
	if err := source.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := New(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		r.Close()
	})
	return r
}

func writing() config.Source {
	return config.Source{RemoteWrite: &config.Receive{Listen: "127.0.0.1:0"}}
}

func exporting() config.Source { return config.Source{OTLP: &config.Receive{Listen: "127.0.0.1:0"}} }

// scrape returns the series, and the reasons for what is left out.
func scrape(t *testing.T, r *Receiver) (series map[string]float64, left map[string]string) {
	t.Helper()
	snapshot, err := r.Scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	series, left = map[string]float64{}, map[string]string{}
	for i := range snapshot.Samples {
		series[snapshot.Samples[i].Series()] = snapshot.Samples[i].Value
	}
	for _, l := range snapshot.Left {
		if !l.Reason.ByRule() {
			left[string(l.Reason)] = l.Example
		}
	}
	return series, left
}

func expect(t *testing.T, r *Receiver, want map[string]float64) {
	t.Helper()
	got, _ := scrape(t, r)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestARealPrometheusWrites: by remote write, with a target that goes away.
func TestARealPrometheusWrites(t *testing.T) {
	t.Parallel()
	source := writing()
	source.Keep = []string{"free_slots", "up"}
	source.Labels.Drop = []string{"instance"}
	r := start(t, source)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "# TYPE free_slots gauge\nfree_slots{pool=\"a\"} 3\nnoise 1\n")
	}))
	t.Cleanup(target.Close)
	promtest.Start(t, promtest.Options{Config: fmt.Sprintf(`
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs: [{job_name: app, static_configs: [{targets: [%q]}]}]
remote_write: [{url: "http://%s%s", queue_config: {batch_send_deadline: 100ms}}]
`, strings.TrimPrefix(target.URL, "http://"), r.Address(), RemoteWritePath)})
	want := map[string]float64{`free_slots{job="app",pool="a"}`: 3, `up{job="app"}`: 1}
	testwait.Within(t, 30*time.Second, func() string {
		got, left := scrape(t, r)
		if diff := cmp.Diff(want, got); diff != "" || left["Refused"] != "" {
			return diff + left["Refused"]
		}
		return ""
	})
	target.Close()
	testwait.Within(t, 30*time.Second, func() string { // by the staleness marker
		got, _ := scrape(t, r)
		return cmp.Diff(map[string]float64{`up{job="app"}`: 0}, got)
	})
}

// TestARealExporterExports: OpenTelemetry's own, cumulative and delta.
func TestARealExporterExports(t *testing.T) {
	t.Parallel()
	for name, temporality := range map[string]metricdata.Temporality{"cumulative": metricdata.CumulativeTemporality, "delta": metricdata.DeltaTemporality} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, exporting())
			exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(r.Address()), otlpmetrichttp.WithInsecure(),
				otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression),
				otlpmetrichttp.WithTemporalitySelector(func(sdk.InstrumentKind) metricdata.Temporality { return temporality }))
			if err != nil {
				t.Fatal(err)
			}
			about := resource.NewSchemaless(attribute.String("service.namespace", "shop"), attribute.String("service.name", "till"), attribute.String("service.instance.id", "i-1"), attribute.String("host.name", "h"))
			exponential := sdk.NewView(sdk.Instrument{Name: "size"}, sdk.Stream{Aggregation: sdk.AggregationBase2ExponentialHistogram{MaxSize: 4, MaxScale: 0}})
			provider := sdk.NewMeterProvider(sdk.WithReader(sdk.NewPeriodicReader(exporter, sdk.WithInterval(time.Hour))), sdk.WithResource(about), sdk.WithView(exponential))
			meter := provider.Meter("test")
			sold, err1 := meter.Int64Counter("items.sold")
			depth, err2 := meter.Float64Gauge("queue.depth", metric.WithUnit("By"))
			wait, err3 := meter.Float64Histogram("wait", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(1, 5))
			size, err4 := meter.Float64Histogram("size")
			if err := cmpOr(err1, err2, err3, err4); err != nil {
				t.Fatal(err)
			}
			by := metric.WithAttributes(attribute.String("payment.kind", "card"))
			for range 2 {
				sold.Add(t.Context(), 3, by)
				depth.Record(t.Context(), 1.5)
				wait.Record(t.Context(), 2)
				size.Record(t.Context(), 3)
				size.Record(t.Context(), 0)
				if err := provider.ForceFlush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			const of = `instance="i-1",job="shop/till"`
			want := map[string]float64{
				`items_sold_total{` + of + `,payment_kind="card"}`: 6,
				`queue_depth_bytes{` + of + `}`:                    1.5,
				`wait_seconds_bucket{` + of + `,le="1"}`:           0,
				`wait_seconds_bucket{` + of + `,le="5"}`:           2,
				`wait_seconds_bucket{` + of + `,le="+Inf"}`:        2,
				`wait_seconds_count{` + of + `}`:                   2,
				`wait_seconds_sum{` + of + `}`:                     4,
				`size_bucket{` + of + `,le="0"}`:                   2,
				`size_bucket{` + of + `,le="4"}`:                   4,
				`size_bucket{` + of + `,le="+Inf"}`:                4,
				`size_count{` + of + `}`:                           4,
				`size_sum{` + of + `}`:                             6,
			}
			expect(t, r, want)
			if err := provider.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func cmpOr(errs ...error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// post posts a body, and returns what is answered.
func post(t *testing.T, r *Receiver, path, media, encoding string, body []byte, header ...string) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

func series(name string, v float64, millis int64) prompb.TimeSeries {
	return prompb.TimeSeries{Labels: []prompb.Label{{Name: "__name__", Value: name}}, Samples: []prompb.Sample{{Value: v, Timestamp: millis}}}
}

func v1(t *testing.T, all ...prompb.TimeSeries) []byte {
	t.Helper()
	text, err := (&prompb.WriteRequest{Timeseries: all}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return snappy.Encode(nil, text)
}

func write(t *testing.T, r *Receiver, all ...prompb.TimeSeries) (int, string) {
	t.Helper()
	code, text, _ := post(t, r, RemoteWritePath, "application/x-protobuf", "snappy", v1(t, all...))
	return code, text
}

func TestTheNewestValueCounts(t *testing.T) {
	t.Parallel()
	r := start(t, writing())
	expect(t, r, map[string]float64{})
	if _, left := scrape(t, r); !strings.Contains(left["NoData"], "nobody has sent anything") {
		t.Errorf("before anything came it says %v", left)
	}
	write(t, r, series("a", 1, 1000), series("a", 2, 2000), series("b", 5, 1000))
	write(t, r, series("a", 9, 1500))
	expect(t, r, map[string]float64{"a": 2, "b": 5})
	write(t, r, series("a", 9, 1500))
	if _, left := scrape(t, r); left["OutOfOrder"] != "a" {
		t.Errorf("left out is %v", left)
	}
	write(t, r, series("b", math.Float64frombits(value.StaleNaN), 2000), series("a", math.NaN(), 3000))
	expect(t, r, map[string]float64{})
}

func TestSeriesExpire(t *testing.T) {
	t.Parallel()
	now := time.Now()
	r := start(t, writing(), func(r *Receiver) { r.now = func() time.Time { return now } })
	write(t, r, series("a", 1, 1000))
	now = now.Add(config.DefaultExpireAfter)
	expect(t, r, map[string]float64{"a": 1})
	now = now.Add(time.Second)
	expect(t, r, map[string]float64{})
	if n := len(r.store.series); n != 0 {
		t.Errorf("%d series are held", n)
	}
}

func TestTooManySeriesAreRefused(t *testing.T) {
	t.Parallel()
	source := writing()
	source.Limits.Samples = 2
	source.Drop = []string{"noise.*"}
	r := start(t, source)
	if code, _ := write(t, r, series("noise", 1, 1), series("noise2", 1, 1), series("a", 1, 1), series("b", 1, 1)); code != http.StatusNoContent {
		t.Errorf("what a rule drops counts: %d", code)
	}
	if code, text := write(t, r, series("a", 2, 2), series("c", 1, 1)); code != http.StatusBadRequest || !strings.Contains(text, "1 samples are left out") {
		t.Errorf("the answer is %d %s", code, text)
	}
	expect(t, r, map[string]float64{"a": 2, "b": 1})
}

// TestAFewBytesMakeMillions: what one request makes is bounded, also where its
// body is small.
func TestAFewBytesMakeMillions(t *testing.T) {
	t.Parallel()
	r := start(t, exporting())
	counts := strings.Repeat("1,", maxPoints)
	body := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"big","exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[
		{"count":"1","scale":20,"positive":{"offset":-9,"bucketCounts":[` + counts + `1]}}]}}]}]}]}`
	code, answer, _ := post(t, r, OTLPPath, "application/json", "", []byte(body))
	if code != http.StatusOK || !strings.Contains(answer, "series are left out") {
		t.Errorf("the answer is %d %.300s", code, answer)
	}
	w := start(t, writing())
	many := make([]prompb.TimeSeries, maxPoints+1)
	for i := range many {
		many[i] = series("a", 1, 1)
	}
	if code, answer := write(t, w, many...); code != http.StatusBadRequest || !strings.Contains(answer, "more than 100000 series") {
		t.Errorf("the answer is %d %.300s", code, answer)
	}
}

func TestVersion2(t *testing.T) {
	t.Parallel()
	r := start(t, writing())
	request := writev2.Request{
		Symbols: []string{"", "__name__", "load", "node", "n1", "cores"},
		Timeseries: []writev2.TimeSeries{{
			LabelsRefs: []uint32{1, 2, 3, 4}, Samples: []writev2.Sample{{Value: 2, Timestamp: 1}}, Metadata: writev2.Metadata{UnitRef: 5},
		}},
	}
	text, err := request.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const media = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
	code, _, header := post(t, r, RemoteWritePath, media, "snappy", snappy.Encode(nil, text))
	if code != http.StatusNoContent || header.Get("X-Prometheus-Remote-Write-Samples-Written") != "1" {
		t.Errorf("the answer is %d %v", code, header)
	}
	expect(t, r, map[string]float64{`load{node="n1"}`: 2})
	request.Timeseries[0].LabelsRefs[3] = 99
	if text, err = request.Marshal(); err != nil {
		t.Fatal(err)
	}
	if code, answer, _ := post(t, r, RemoteWritePath, media, "snappy", snappy.Encode(nil, text)); code != http.StatusBadRequest || !strings.Contains(answer, "symbol 99 is none of 6") {
		t.Errorf("the answer is %d %s", code, answer)
	}
}

func TestJSONExport(t *testing.T) {
	t.Parallel()
	r := start(t, exporting())
	body := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[
		{"name":"temp","gauge":{"dataPoints":[{"timeUnixNano":"1000000","asDouble":21.5,"attributes":[{"key":"ok","value":{"boolValue":true}},{"key":"n","value":{"intValue":"3"}}]}]}},
		{"name":"lat","summary":{"dataPoints":[{"timeUnixNano":"1000000","count":"2","sum":3,"quantileValues":[{"quantile":0.9,"value":2}]}]}},
		{"name":"bad","histogram":{"aggregationTemporality":2,"dataPoints":[{"count":"1","bucketCounts":["1"],"explicitBounds":[1,2]}]}}
	]}]}]}`
	code, answer, _ := post(t, r, OTLPPath, "application/json", "", []byte(body))
	if code != http.StatusOK || !strings.Contains(answer, `"rejectedDataPoints":"1"`) || !strings.Contains(answer, "bad has 1 bucket counts and 2 bounds") {
		t.Errorf("the answer is %d %s", code, answer)
	}
	expect(t, r, map[string]float64{`temp{n="3",ok="true"}`: 21.5, `lat{quantile="0.9"}`: 2, "lat_count": 2, "lat_sum": 3})
	gone := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"temp","gauge":{"dataPoints":[{"timeUnixNano":"2000000","flags":1,"attributes":[{"key":"ok","value":{"boolValue":true}},{"key":"n","value":{"intValue":"3"}}]}]}}]}]}]}`
	post(t, r, OTLPPath, "application/json", "", []byte(gone))
	expect(t, r, map[string]float64{`lat{quantile="0.9"}`: 2, "lat_count": 2, "lat_sum": 3})
}

// TestADeltaIsAddedOnce: an export that is repeated, for its answer got lost.
func TestADeltaIsAddedOnce(t *testing.T) {
	t.Parallel()
	r := start(t, exporting())
	export := func(nanos string) {
		post(t, r, OTLPPath, "application/json", "", []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"sold","sum":{"isMonotonic":true,"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"`+nanos+`","asInt":"3"}]}}]}]}]}`))
	}
	export("1000000000")
	export("1000000000")
	export("2000000000")
	expect(t, r, map[string]float64{"sold_total": 6})
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBadRequests: each is refused by the code that tells its sender whether
// to try again, and is said in the source's status.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	const v1media = "application/x-protobuf"
	limited := func(s config.Source) config.Source {
		s.Limits.BodyBytes = 1000
		return s
	}
	good := v1(t, series("a", 1, 1))
	nameless := v1(t, prompb.TimeSeries{Labels: []prompb.Label{{Name: "x", Value: "y"}}})
	for name, tt := range map[string]struct {
		source          config.Source
		path            string
		media, encoding string
		body            []byte
		code            int
		want            string
	}{
		"not protobuf":        {writing(), RemoteWritePath, "text/html", "snappy", good, 415, "text/html"},
		"of another version":  {writing(), RemoteWritePath, v1media + ";proto=io.prometheus.write.v3.Request", "snappy", good, 415, "v3"},
		"not packed":          {writing(), RemoteWritePath, v1media, "", good, 415, "want snappy"},
		"not snappy":          {writing(), RemoteWritePath, v1media, "snappy", []byte("\xff\xff\xff\xff\xff\xffhello"), 400, "not snappy"},
		"snappy, cut off":     {writing(), RemoteWritePath, v1media, "snappy", good[:len(good)-3], 400, "not snappy"},
		"no protobuf inside":  {writing(), RemoteWritePath, v1media, "snappy", snappy.Encode(nil, []byte("<html>")), 400, "cannot be read"},
		"a series of no name": {writing(), RemoteWritePath, v1media, "snappy", nameless, 400, "no __name__"},
		"a snappy bomb":       {limited(writing()), RemoteWritePath, v1media, "snappy", snappy.Encode(nil, make([]byte, 9000)), 400, "9000 bytes unpacked"},
		"too long":            {limited(writing()), RemoteWritePath, v1media, "snappy", make([]byte, 1001), 413, "limits.bodyBytes"},
		"OTLP: not protobuf":  {exporting(), OTLPPath, "text/plain", "", nil, 415, "text/plain"},
		"OTLP: no JSON":       {exporting(), OTLPPath, "application/json", "", []byte("{"), 400, "cannot be read"},
		"OTLP: no protobuf":   {exporting(), OTLPPath, v1media, "", []byte("hello"), 400, "cannot be read"},
		"OTLP: not gzip":      {exporting(), OTLPPath, v1media, "gzip", []byte("hello"), 400, "not gzip"},
		"OTLP: zstd":          {exporting(), OTLPPath, v1media, "zstd", nil, 415, "zstd"},
		"OTLP: a gzip bomb":   {limited(exporting()), OTLPPath, v1media, "gzip", gzipped(t, make([]byte, 5000)), 400, "more than limits.bodyBytes, 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, tt.source)
			code, text, _ := post(t, r, tt.path, tt.media, tt.encoding, tt.body)
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("the answer is %d %s, want %d with %q", code, text, tt.code, tt.want)
			}
			if _, left := scrape(t, r); !strings.Contains(left["Refused"], tt.want) {
				t.Errorf("the status says %v", left)
			}
		})
	}
}

func TestTokenMayRotate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("first\n")
	source := writing()
	source.BearerTokenFile = file
	r := start(t, source)
	try := func(token string) int {
		code, _, _ := post(t, r, RemoteWritePath, "application/x-protobuf", "snappy", v1(t, series("a", 1, 1)), "Authorization", token)
		return code
	}
	codes := []int{try(""), try("Bearer wrong"), try("Bearer first")}
	put("second")
	codes = append(codes, try("Bearer first"), try("Bearer second"))
	put("")
	codes = append(codes, try("Bearer "))
	if want := []int{401, 401, 204, 401, 204, 401}; !slices.Equal(codes, want) {
		t.Errorf("answered is %v, want %v", codes, want)
	}
}

// TestTLS serves the certificate that is there now.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	issuer, err := authority.New("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	put := func() {
		pair, err := issuer.Server(time.Now(), "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"crt": pair.Cert, "key": pair.Key} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	source := writing()
	source.TLS = config.TLS{CertFile: filepath.Join(dir, "crt"), KeyFile: filepath.Join(dir, "key")}
	r := start(t, source)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(issuer.Pair().Cert)
	serial := func() string {
		conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots}}).DialContext(t.Context(), "tcp", r.Address())
		if err != nil {
			return ""
		}
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	if serial() != "" {
		t.Error("without a certificate there is a connection")
	}
	put()
	first := serial()
	put()
	if second := serial(); first == "" || second == "" || first == second {
		t.Errorf("served are %q, then %q", first, second)
	}
}

func TestAnotherListensThere(t *testing.T) {
	t.Parallel()
	r := start(t, writing())
	source := config.Source{Name: "second", RemoteWrite: &config.Receive{Listen: r.Address()}}
	source.Default()
	if _, err := New(source); err == nil || !strings.Contains(err.Error(), "remoteWrite.listen: ") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzReadV1(f *testing.F) {
	text, err := (&prompb.WriteRequest{Timeseries: []prompb.TimeSeries{series("a", 1, 1)}}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := readV1(data)
		if err == nil && slices.ContainsFunc(w.points, func(p point) bool { return p.name == "" }) {
			t.Error("a series without a name is taken")
		}
	})
}

func FuzzReadV2(f *testing.F) {
	request := writev2.Request{Symbols: []string{"", "__name__", "a"}, Timeseries: []writev2.TimeSeries{{LabelsRefs: []uint32{1, 2}, Samples: []writev2.Sample{{Value: 1, Timestamp: 1}}}}}
	text, err := request.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := readV2(data)
		if err == nil && slices.ContainsFunc(w.points, func(p point) bool { return p.name == "" }) {
			t.Error("a series without a name is taken")
		}
	})
}

// FuzzOTLP exports whatever comes: the receiver answers, and gives a snapshot.
func FuzzOTLP(f *testing.F) {
	f.Add([]byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"temp","gauge":{"dataPoints":[{"asDouble":21.5}]}}]}]}]}`), true)
	f.Add([]byte("\n\x10\x12\x0e\x12\x0c\n\x04temp*\x04\n\x02\x19\x00"), false)
	source := exporting()
	source.Name = "pushed"
	source.Default()
	r, err := New(source)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(r.Close)
	f.Fuzz(func(t *testing.T, data []byte, text bool) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, OTLPPath, bytes.NewReader(data))
		request.Header.Set("Content-Type", map[bool]string{true: mediaJSON, false: mediaProto}[text])
		answer := httptest.NewRecorder()
		r.handler().ServeHTTP(answer, request)
		if answer.Code != http.StatusOK && answer.Code != http.StatusBadRequest {
			t.Errorf("the answer is %d", answer.Code)
		}
		if _, err := r.Scrape(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
