package schemas_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// badCase is what is expected of testdata/bad/TYPE/NAME.json.
type badCase struct {
	wantField string
	// schemaTakesIt marks what a JSON Schema cannot say: names that repeat,
	// and integers with a fraction or an exponent.
	schemaTakesIt bool
}

func badCases() map[string]badCase {
	all := flapCases()
	maps.Copy(all, cordonCases())
	maps.Copy(all, dynamicCases())
	maps.Copy(all, map[string]badCase{
		"dev.spokewire.audit.answered.v1/counts":                    {wantField: "counts"},
		"dev.spokewire.audit.asked.v1/from":                         {wantField: "from"},
		"dev.spokewire.explain.answered.v1/decision":                {wantField: "decision.namespace"},
		"dev.spokewire.explain.asked.v1/cluster":                    {wantField: "cluster"},
		"dev.spokewire.explain.asked.v1/unknown":                    {wantField: "seq"},
		"dev.spokewire.replay.answered.v1/verdict":                  {wantField: "verdict"},
		"dev.spokewire.replay.asked.v1/name":                        {wantField: "name"},
		"dev.spokewire.whatif.answered.v1/mode":                     {wantField: "decision.mode"},
		"dev.spokewire.whatif.asked.v1/add":                         {wantField: "add[0].cluster.name"},
		"dev.spokewire.whatif.asked.v1/add-twice":                   {wantField: "add[1].cluster.name", schemaTakesIt: true},
		"dev.spokewire.whatif.asked.v1/label":                       {wantField: "metrics[0].labels"},
		"dev.spokewire.whatif.asked.v1/metric":                      {wantField: "metrics[0].name"},
		"dev.spokewire.whatif.asked.v1/remove":                      {wantField: "remove[1]"},
		"dev.spokewire.whatif.asked.v1/score":                       {wantField: "scores[0].value"},
		"dev.spokewire.whatif.asked.v1/spec":                        {wantField: "placement.spec"},
		"dev.spokewire.whatif.asked.v1/taint":                       {wantField: "taint[0].taint.effect"},
		"dev.spokewire.whatif.asked.v1/untaint":                     {wantField: "untaint[0].cluster"},
		"dev.spokewire.config.placement.deleted.v1/missing":         {wantField: "name"},
		"dev.spokewire.config.placement.deleted.v1/name":            {wantField: "name"},
		"dev.spokewire.config.placement.requested.v1/namespace":     {wantField: "metadata.namespace"},
		"dev.spokewire.config.placement.requested.v1/spec":          {wantField: "spec"},
		"dev.spokewire.config.placement.requested.v1/version":       {wantField: "apiVersion"},
		"dev.spokewire.config.scorer.deleted.v1/missing":            {wantField: "name"},
		"dev.spokewire.config.scorer.deleted.v1/name":               {wantField: "name"},
		"dev.spokewire.config.scorer.requested.v1/both":             {wantField: "spec.items"},
		"dev.spokewire.config.scorer.requested.v1/by-items":         {wantField: "spec.by"},
		"dev.spokewire.config.scorer.requested.v1/by-limit":         {wantField: "spec.limit"},
		"dev.spokewire.config.scorer.requested.v1/by-label":         {wantField: "spec.by"},
		"dev.spokewire.config.scorer.requested.v1/item-by-limit":    {wantField: "spec.items[0].limit"},
		"dev.spokewire.config.scorer.requested.v1/item-by-none":     {wantField: "spec.items[0].limit"},
		"dev.spokewire.config.scorer.requested.v1/item-by-overlap":  {wantField: "spec.items[1].name", schemaTakesIt: true},
		"dev.spokewire.config.scorer.requested.v1/item-by-total":    {wantField: "spec.items[1].limit", schemaTakesIt: true},
		"dev.spokewire.config.scorer.requested.v1/item-cel":         {wantField: "spec.items[0].cel"},
		"dev.spokewire.config.scorer.requested.v1/item-name":        {wantField: "spec.items[1].name"},
		"dev.spokewire.config.scorer.requested.v1/item-twice":       {wantField: "spec.items[1].name", schemaTakesIt: true},
		"dev.spokewire.config.scorer.requested.v1/kind":             {wantField: "kind"},
		"dev.spokewire.config.scorer.requested.v1/name":             {wantField: "metadata.name"},
		"dev.spokewire.config.scorer.requested.v1/negative":         {wantField: "spec.validFor"},
		"dev.spokewire.config.scorer.requested.v1/zero":             {wantField: "spec.validFor"},
		"dev.spokewire.config.scorer.requested.v1/no-cel":           {wantField: "spec.cel"},
		"dev.spokewire.config.scorer.requested.v1/typo":             {wantField: "spec.cell"},
		"dev.spokewire.config.scorer.requested.v1/version":          {wantField: "apiVersion"},
		"dev.spokewire.dead.dropped.v1/none":                        {wantField: "letters"},
		"dev.spokewire.dead.dropped.v1/sequence":                    {wantField: "letters[0].sequence"},
		"dev.spokewire.dead.dropped.v1/service":                     {wantField: "letters[1].service"},
		"dev.spokewire.dead.dropped.v1/stream":                      {wantField: "letters[0].stream"},
		"dev.spokewire.dead.dropped.v1/unknown":                     {wantField: "letters[0].letter"},
		"dev.spokewire.dead.written.v1/body":                        {wantField: "body"},
		"dev.spokewire.dead.written.v1/body-size":                   {wantField: "body"},
		"dev.spokewire.dead.written.v1/message":                     {wantField: "message"},
		"dev.spokewire.dead.written.v1/reason":                      {wantField: "reason"},
		"dev.spokewire.dead.written.v1/service":                     {wantField: "service"},
		"dev.spokewire.dead.written.v1/subject":                     {wantField: "subject"},
		"dev.spokewire.hub.addonscore.deleted.v1/missing":           {wantField: "name"},
		"dev.spokewire.hub.addonscore.deleted.v1/name":              {wantField: "name"},
		"dev.spokewire.hub.addonscore.observed.v1/cluster":          {wantField: "cluster"},
		"dev.spokewire.hub.addonscore.observed.v1/score":            {wantField: "scores.cpu"},
		"dev.spokewire.hub.binding.deleted.v1/missing":              {wantField: "name"},
		"dev.spokewire.hub.binding.deleted.v1/name":                 {wantField: "name"},
		"dev.spokewire.hub.binding.observed.v1/set":                 {wantField: "clusterSet"},
		"dev.spokewire.hub.cluster.deleted.v1/missing":              {wantField: "name"},
		"dev.spokewire.hub.cluster.deleted.v1/name":                 {wantField: "name"},
		"dev.spokewire.hub.cluster.observed.v1/label":               {wantField: "labels.a"},
		"dev.spokewire.hub.cluster.observed.v1/name":                {wantField: "name"},
		"dev.spokewire.hub.cluster.observed.v1/taint":               {wantField: "taints[0].effect"},
		"dev.spokewire.hub.clusterset.deleted.v1/missing":           {wantField: "name"},
		"dev.spokewire.hub.clusterset.deleted.v1/name":              {wantField: "name"},
		"dev.spokewire.hub.clusterset.observed.v1/selector":         {wantField: "labelSelector"},
		"dev.spokewire.hub.clusterset.observed.v1/type":             {wantField: "selectorType"},
		"dev.spokewire.hub.placement.deleted.v1/missing":            {wantField: "name"},
		"dev.spokewire.hub.placement.deleted.v1/name":               {wantField: "name"},
		"dev.spokewire.hub.placement.observed.v1/null-spec":         {wantField: "spec"},
		"dev.spokewire.hub.placement.observed.v1/spec":              {wantField: "spec"},
		"dev.spokewire.hub.placement.observed.v1/uid":               {wantField: "uid"},
		"dev.spokewire.hub.placementdecision.deleted.v1/missing":    {wantField: "name"},
		"dev.spokewire.hub.placementdecision.deleted.v1/name":       {wantField: "name"},
		"dev.spokewire.hub.placementdecision.observed.v1/cluster":   {wantField: "clusters[0].name"},
		"dev.spokewire.hub.placementdecision.observed.v1/placement": {wantField: "placement.name"},
		"dev.spokewire.metrics.observed.v1/array":                   {wantField: "data"},
		"dev.spokewire.metrics.observed.v1/control-label":           {wantField: "samples[0].labels"},
		"dev.spokewire.metrics.observed.v1/digit-name":              {wantField: "samples[0].name"},
		"dev.spokewire.metrics.observed.v1/empty-label":             {wantField: "samples[0].labels"},
		"dev.spokewire.metrics.observed.v1/empty-name":              {wantField: "samples[0].name"},
		"dev.spokewire.metrics.observed.v1/label-number":            {wantField: "samples[0].labels.x"},
		"dev.spokewire.metrics.observed.v1/long-label":              {wantField: "samples[0].labels"},
		"dev.spokewire.metrics.observed.v1/long-name":               {wantField: "samples[0].name"},
		"dev.spokewire.metrics.observed.v1/long-unit":               {wantField: "samples[0].unit"},
		"dev.spokewire.metrics.observed.v1/many-labels":             {wantField: "samples[0].labels"},
		"dev.spokewire.metrics.observed.v1/nan":                     {wantField: "samples[0].value"},
		"dev.spokewire.metrics.observed.v1/newline-name":            {wantField: "samples[0].name"},
		"dev.spokewire.metrics.observed.v1/no-samples":              {wantField: "samples"},
		"dev.spokewire.metrics.observed.v1/no-value":                {wantField: "samples[1].value"},
		"dev.spokewire.metrics.observed.v1/not-json":                {wantField: "data"},
		"dev.spokewire.metrics.observed.v1/null":                    {wantField: "data"},
		"dev.spokewire.metrics.observed.v1/null-samples":            {wantField: "samples"},
		"dev.spokewire.metrics.observed.v1/null-value":              {wantField: "samples[0].value"},
		"dev.spokewire.metrics.observed.v1/repeated-field":          {wantField: "samples[0].value", schemaTakesIt: true},
		"dev.spokewire.metrics.observed.v1/repeated-label":          {wantField: "samples[0].labels.x", schemaTakesIt: true},
		"dev.spokewire.metrics.observed.v1/repeated-series":         {wantField: "samples[1]", schemaTakesIt: true},
		"dev.spokewire.metrics.observed.v1/text-value":              {wantField: "samples[0].value"},
		"dev.spokewire.metrics.observed.v1/too-large":               {wantField: "samples[0].value"},
		"dev.spokewire.metrics.observed.v1/trailing":                {wantField: "data"},
		"dev.spokewire.metrics.observed.v1/unknown-field":           {wantField: "samples[0].labelz"},
		"dev.spokewire.metrics.observed.v1/wrong-case":              {wantField: "samples[0].Value"},
		"dev.spokewire.placement.decided.v1/cluster-twice":          {wantField: "clusters[1].name", schemaTakesIt: true},
		"dev.spokewire.placement.decided.v1/mode":                   {wantField: "mode"},
		"dev.spokewire.placement.decided.v1/no-cause":               {wantField: "cause"},
		"dev.spokewire.placement.decided.v1/no-clusters":            {wantField: "clusters"},
		"dev.spokewire.placement.decided.v1/no-now":                 {wantField: "now"},
		"dev.spokewire.placement.decided.v1/no-scheduler":           {wantField: "scheduler"},
		"dev.spokewire.placement.decided.v1/no-uid":                 {wantField: "placement.uid"},
		"dev.spokewire.placement.decided.v1/null-clusters":          {wantField: "clusters"},
		"dev.spokewire.placement.decided.v1/timer":                  {wantField: "timers.x"},
		"dev.spokewire.placement.decided.v1/unnamed-cluster":        {wantField: "clusters[1].name"},
		"dev.spokewire.placement.decided.v1/weight":                 {wantField: "explanations[0].prioritizers[0].weight"},
		"dev.spokewire.placement.decided.v1/zero-now":               {wantField: "now"},
		"dev.spokewire.placement.deleted.v1/missing":                {wantField: "name"},
		"dev.spokewire.placement.deleted.v1/name":                   {wantField: "name"},
		"dev.spokewire.receipt.recorded.v1/id":                      {wantField: "id"},
		"dev.spokewire.receipt.recorded.v1/object":                  {wantField: "objects[0].kind"},
		"dev.spokewire.receipt.recorded.v1/outcome":                 {wantField: "outcome"},
		"dev.spokewire.receipt.recorded.v1/subject":                 {wantField: "subject"},
		"dev.spokewire.score.computed.v1/bad-basis":                 {wantField: "basis.SW_HUB"},
		"dev.spokewire.score.computed.v1/bad-time":                  {wantField: "validUntil"},
		"dev.spokewire.score.computed.v1/bare-expiry":               {wantField: "validFor"},
		"dev.spokewire.score.computed.v1/both-expiries":             {wantField: "validFor"},
		"dev.spokewire.score.computed.v1/fraction":                  {wantField: "items[0].value"},
		"dev.spokewire.score.computed.v1/high":                      {wantField: "items[0].value"},
		"dev.spokewire.score.computed.v1/item-twice":                {wantField: "items[1].name", schemaTakesIt: true},
		"dev.spokewire.score.computed.v1/low":                       {wantField: "items[0].value"},
		"dev.spokewire.score.computed.v1/negative-expiry":           {wantField: "validFor"},
		"dev.spokewire.score.computed.v1/no-cluster":                {wantField: "cluster"},
		"dev.spokewire.score.computed.v1/no-expiry":                 {wantField: "validFor"},
		"dev.spokewire.score.computed.v1/no-items":                  {wantField: "items"},
		"dev.spokewire.score.computed.v1/no-reason":                 {wantField: "items[0].reason"},
		"dev.spokewire.score.computed.v1/no-scorer":                 {wantField: "scorer"},
		"dev.spokewire.score.computed.v1/number-expiry":             {wantField: "validFor"},
		"dev.spokewire.score.computed.v1/point-zero":                {wantField: "items[0].value", schemaTakesIt: true},
		"dev.spokewire.score.computed.v1/zero-expiry":               {wantField: "validFor"},
		"dev.spokewire.score.deleted.v1/missing":                    {wantField: "name"},
		"dev.spokewire.score.deleted.v1/name":                       {wantField: "name"},
	})
	return all
}

func TestBadPayloadsNameTheField(t *testing.T) {
	t.Parallel()
	for name, tc := range badCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := readFile(t, filepath.Join("testdata/bad", name+".json"))
			eventType := filepath.Dir(name)
			_, err := schemas.Decode(eventType, data)
			var field *schemas.FieldError
			if !errors.As(err, &field) || field.Field != tc.wantField {
				t.Errorf("got error %v, want a FieldError of %s", err, tc.wantField)
			}
			if err := validator(t, eventType)(data); (err == nil) != tc.schemaTakesIt {
				t.Errorf("the JSON Schema says %v, taken by it: want %v", err, tc.schemaTakesIt)
			}
		})
	}
}

func TestEveryBadFileIsInTheTable(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, "testdata/bad/*/*.json") {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "testdata/bad/"), ".json")
		if _, ok := badCases()[name]; !ok {
			t.Errorf("%s has no entry", path)
		}
	}
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files (%v)", pattern, len(paths), err)
	}
	return paths
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
