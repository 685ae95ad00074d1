package score

import (
	"fmt"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func BenchmarkEvaluate(b *testing.B) {
	compiler := newCompiler(b)
	c := fixture()
	var many []schemas.Sample
	for i := range 50 {
		many = append(many, sample(fmt.Sprintf("series_%02d", i), float64(i), "instance", "node-1"))
	}
	c.Sources = append(c.Sources, source("d", 0, many...))
	for name, cel := range map[string]string{
		"metric": `metric("gpu_free")`,
		"linear": `linear(metric("gpu_free"), 0, 8)`,
		"labels": `metric("queue", {"tier": "y"}) + sum("queue")`,
		"claim":  `claim("platform") == "aws" ? linear(metric("gpu_free"), 0, 8) : 0.0`,
	} {
		b.Run(name, func(b *testing.B) {
			p, err := compiler.Compile(scorer(cel))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r := p.Evaluate(c, noon); r.Items[0].Value == nil {
					b.Fatal(r.Items[0])
				}
			}
		})
	}
}
