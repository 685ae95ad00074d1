package receive

import (
	"fmt"
	"maps"
	"math"
	"strconv"

	"github.com/prometheus/otlptranslator"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// translation makes points of OTLP's metrics, as Prometheus does: names and
// labels by its rules (otlptranslator), histograms as classic ones. Of a
// resource it takes the service's name and instance, as job and instance.
type translation struct {
	names  otlptranslator.MetricNamer
	labels otlptranslator.LabelNamer
	points []point
	// unsupported counts data points that cannot be taken, example is of one.
	unsupported int
	example     string

	of    map[string]string // labels of the resource
	name  string            // of the metric
	unit  string
	delta bool
}

func newTranslation() *translation {
	return &translation{names: otlptranslator.MetricNamer{WithMetricSuffixes: true}}
}

func (t *translation) resource(m *metricsv1.ResourceMetrics) {
	t.of = map[string]string{}
	namespace := ""
	for _, a := range m.GetResource().GetAttributes() {
		switch text := textOf(a.GetValue()); a.GetKey() {
		case "service.name":
			t.of["job"] = text
		case "service.namespace":
			namespace = text
		case "service.instance.id":
			t.of["instance"] = text
		}
	}
	if namespace != "" && t.of["job"] != "" {
		t.of["job"] = namespace + "/" + t.of["job"]
	}
	for _, scope := range m.GetScopeMetrics() {
		for _, metric := range scope.GetMetrics() {
			t.metric(metric)
		}
	}
}

func (t *translation) metric(m *metricsv1.Metric) {
	t.unit, t.delta = m.GetUnit(), false
	var kind otlptranslator.MetricType = otlptranslator.MetricTypeUnknown
	switch data := m.GetData().(type) {
	case *metricsv1.Metric_Gauge:
		kind = otlptranslator.MetricTypeGauge
	case *metricsv1.Metric_Sum:
		kind = otlptranslator.MetricTypeNonMonotonicCounter
		if data.Sum.GetIsMonotonic() {
			kind = otlptranslator.MetricTypeMonotonicCounter
		}
	case *metricsv1.Metric_Histogram, *metricsv1.Metric_ExponentialHistogram:
		kind = otlptranslator.MetricTypeHistogram
	case *metricsv1.Metric_Summary:
		kind = otlptranslator.MetricTypeSummary
	}
	var err error
	if t.name, err = t.names.Build(otlptranslator.Metric{Name: m.GetName(), Unit: m.GetUnit(), Type: kind}); err != nil {
		t.refuse(fmt.Sprintf("%.100q has no name in Prometheus' terms: %v", m.GetName(), err))
		return
	}
	t.data(m)
}

const delta = metricsv1.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA

func (t *translation) data(m *metricsv1.Metric) {
	switch data := m.GetData().(type) {
	case *metricsv1.Metric_Gauge:
		t.numbers(data.Gauge.GetDataPoints())
	case *metricsv1.Metric_Sum:
		t.delta = data.Sum.GetAggregationTemporality() == delta
		t.numbers(data.Sum.GetDataPoints())
	case *metricsv1.Metric_Histogram:
		t.delta = data.Histogram.GetAggregationTemporality() == delta
		for _, p := range data.Histogram.GetDataPoints() {
			t.histogram(p)
		}
	case *metricsv1.Metric_ExponentialHistogram:
		t.delta = data.ExponentialHistogram.GetAggregationTemporality() == delta
		for _, p := range data.ExponentialHistogram.GetDataPoints() {
			t.exponential(p)
		}
	case *metricsv1.Metric_Summary:
		for _, p := range data.Summary.GetDataPoints() {
			t.summary(p)
		}
	default:
		t.refuse(t.name + " has no data that is known")
	}
}

func (t *translation) refuse(why string) {
	t.unsupported++
	t.example = why
}

func (t *translation) numbers(points []*metricsv1.NumberDataPoint) {
	for _, p := range points {
		value := p.GetAsDouble()
		if _, whole := p.GetValue().(*metricsv1.NumberDataPoint_AsInt); whole {
			value = float64(p.GetAsInt())
		}
		t.add(t.name, t.labelsOf(p.GetAttributes()), value, at{p.GetTimeUnixNano(), p.GetFlags()})
	}
}

// at is when a data point was taken, and what its sender says of it.
type at struct {
	nanos uint64
	flags uint32
}

func (t *translation) add(name string, labels map[string]string, value float64, when at) {
	if len(t.points) >= maxPoints {
		t.refuse(fmt.Sprintf("the export makes more than %d series: send fewer at a time", maxPoints))
		return
	}
	t.points = append(t.points, point{
		name: name, labels: labels, value: value, unit: t.unit, nanos: int64(when.nanos), //nolint:gosec // until 2262
		more: t.delta, gone: when.flags&uint32(metricsv1.DataPointFlags_DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK) != 0,
	})
}

func (t *translation) histogram(p *metricsv1.HistogramDataPoint) {
	if len(p.GetBucketCounts()) > 0 && len(p.GetBucketCounts()) != len(p.GetExplicitBounds())+1 {
		t.refuse(fmt.Sprintf("%s has %d bucket counts and %d bounds", t.name, len(p.GetBucketCounts()), len(p.GetExplicitBounds())))
		return
	}
	labels, when := t.labelsOf(p.GetAttributes()), at{p.GetTimeUnixNano(), p.GetFlags()}
	count := uint64(0)
	for i, n := range p.GetBucketCounts() {
		count += n
		bound := math.Inf(1)
		if i < len(p.GetExplicitBounds()) {
			bound = p.GetExplicitBounds()[i]
		}
		t.bucket(labels, bound, count, when)
	}
	t.ends(labels, p.GetSum(), p.Sum != nil, p.GetCount(), when)
}

func (t *translation) bucket(labels map[string]string, bound float64, count uint64, when at) {
	t.add(t.name+"_bucket", with(labels, "le", number(bound)), float64(count), when)
}

// ends adds what histograms and summaries have besides.
func (t *translation) ends(labels map[string]string, sum float64, hasSum bool, count uint64, when at) {
	t.add(t.name+"_count", labels, float64(count), when)
	if hasSum {
		t.add(t.name+"_sum", labels, sum, when)
	}
}

// exponential makes a classic histogram of one whose buckets end at powers of
// 2^(2^-scale), as OTLP has it: bucket i reaches from base^i to base^(i+1).
func (t *translation) exponential(p *metricsv1.ExponentialHistogramDataPoint) {
	base := math.Exp2(math.Exp2(-float64(p.GetScale())))
	labels, when := t.labelsOf(p.GetAttributes()), at{p.GetTimeUnixNano(), p.GetFlags()}
	count := uint64(0)
	negative, offset := p.GetNegative().GetBucketCounts(), float64(p.GetNegative().GetOffset())
	for i := len(negative) - 1; i >= 0; i-- {
		count += negative[i]
		t.bucket(labels, -math.Pow(base, offset+float64(i)), count, when)
	}
	if p.GetZeroCount() > 0 || len(negative) > 0 {
		count += p.GetZeroCount()
		t.bucket(labels, p.GetZeroThreshold(), count, when)
	}
	offset = float64(p.GetPositive().GetOffset())
	for i, n := range p.GetPositive().GetBucketCounts() {
		count += n
		t.bucket(labels, math.Pow(base, offset+float64(i)+1), count, when)
	}
	t.bucket(labels, math.Inf(1), p.GetCount(), when)
	t.ends(labels, p.GetSum(), p.Sum != nil, p.GetCount(), when)
}

func (t *translation) summary(p *metricsv1.SummaryDataPoint) {
	labels, when := t.labelsOf(p.GetAttributes()), at{p.GetTimeUnixNano(), p.GetFlags()}
	for _, q := range p.GetQuantileValues() {
		t.add(t.name, with(labels, "quantile", number(q.GetQuantile())), q.GetValue(), when)
	}
	t.ends(labels, p.GetSum(), true, p.GetCount(), when)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func with(labels map[string]string, name, value string) map[string]string {
	all := make(map[string]string, len(labels)+1)
	maps.Copy(all, labels)
	all[name] = value
	return all
}

// labelsOf joins the attributes of a data point with the resource's. Of two
// that become one name the later one counts.
func (t *translation) labelsOf(attributes []*commonv1.KeyValue) map[string]string {
	labels := maps.Clone(t.of)
	for _, a := range attributes {
		name, err := t.labels.Build(a.GetKey())
		if err == nil && name != "" {
			labels[name] = textOf(a.GetValue())
		}
	}
	return labels
}

// textOf writes a value as text; of lists and maps as JSON would.
func textOf(v *commonv1.AnyValue) string {
	switch value := v.GetValue().(type) {
	case *commonv1.AnyValue_StringValue:
		return value.StringValue
	case *commonv1.AnyValue_BoolValue:
		return strconv.FormatBool(value.BoolValue)
	case *commonv1.AnyValue_IntValue:
		return strconv.FormatInt(value.IntValue, 10)
	case *commonv1.AnyValue_DoubleValue:
		return number(value.DoubleValue)
	case nil:
		return ""
	}
	return v.String()
}
