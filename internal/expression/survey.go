package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// notCarried are the fields of a ManagedCluster that Spokewire does not know:
// they change with every write, are large, or say nothing of a cluster.
var notCarried = []string{
	"metadata.managedFields", "metadata.resourceVersion", "metadata.generation", "metadata.selfLink",
	"metadata.finalizers", "metadata.ownerReferences",
	"spec.managedClusterClientConfigs[].caBundle",
	"status.managedNamespaces",
	"status.conditions[].message", "status.conditions[].lastTransitionTime", "status.conditions[].observedGeneration",
}

// unordered are lists whose order Spokewire does not know.
var unordered = []string{"status.conditions", "status.clusterClaims"}

// survey notes which scores an expression reads, and refuses one that reads
// what is not carried.
type survey struct {
	selector *Selector
	err      error
}

func (s *Selector) survey(a *cel.Ast) error {
	v := survey{selector: s}
	v.visit(a.NativeRep().Expr(), map[string]string{variable: "."})
	return v.err
}

// visit returns the path within managedCluster that e is, "." for itself and
// "" for what is none. An element of a list is at its path with "[]".
func (v *survey) visit(e ast.Expr, scope map[string]string) string {
	switch e.Kind() {
	case ast.IdentKind:
		return scope[e.AsIdent()]
	case ast.SelectKind:
		s := e.AsSelect()
		return v.field(v.visit(s.Operand(), scope), s.FieldName())
	case ast.CallKind:
		return v.call(e.AsCall(), scope)
	case ast.ComprehensionKind:
		return v.comprehension(e.AsComprehension(), scope)
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			v.visit(element, scope)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			v.visit(entry.AsMapEntry().Key(), scope)
			v.visit(entry.AsMapEntry().Value(), scope)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			v.visit(field.AsStructField().Value(), scope)
		}
	}
	return ""
}

func (v *survey) field(of, name string) string {
	if of == "" {
		return ""
	}
	path := strings.TrimPrefix(of+"."+name, "..")
	if slices.Contains(notCarried, path) {
		v.refuse("reads managedCluster.%s, which Spokewire does not carry", path)
	}
	return path
}

func (v *survey) refuse(format, path string) {
	if v.err == nil {
		v.err = fmt.Errorf(format+": use another field, or let OCM decide this Placement", path)
	}
}

func (v *survey) call(c ast.CallExpr, scope map[string]string) string {
	var paths []string
	if c.IsMemberFunction() {
		v.visit(c.Target(), scope)
	}
	for _, arg := range c.Args() {
		paths = append(paths, v.visit(arg, scope))
	}
	switch c.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		return v.index(paths[0], c.Args()[1])
	case functionScores:
		v.scores(c.Args())
	}
	return ""
}

func (v *survey) index(of string, key ast.Expr) string {
	if name, ok := literal(key); ok {
		return v.field(of, name)
	}
	if slices.Contains(unordered, of) {
		v.refuse("asks for a place in managedCluster.%s, whose order Spokewire does not carry", of)
	}
	return element(of)
}

// filtered marks a list that was made from another.
const filtered = "|"

func element(list string) string {
	if list == "" {
		return ""
	}
	return strings.TrimSuffix(list, filtered) + "[]"
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(types.String)
	return string(text), ok
}

func (v *survey) scores(args []ast.Expr) {
	name, known := literal(args[0])
	switch s := v.selector; {
	case !known:
		s.AnyResource = true
	case !slices.Contains(s.Resources, name):
		s.Resources = append(s.Resources, name)
	}
}

// comprehension visits a macro such as exists() or filter().
func (v *survey) comprehension(c ast.ComprehensionExpr, scope map[string]string) string {
	list := v.visit(c.IterRange(), scope)
	inner := map[string]string{}
	for name, path := range scope {
		inner[name] = path
	}
	inner[c.IterVar()] = element(list)
	if c.HasIterVar2() {
		inner[c.IterVar()], inner[c.IterVar2()] = "", element(list)
	}
	delete(inner, c.AccuVar())
	v.visit(c.AccuInit(), scope)
	v.visit(c.LoopCondition(), inner)
	v.visit(c.LoopStep(), inner)
	v.visit(c.Result(), inner)
	if list != "" && c.AccuInit().Kind() == ast.ListKind {
		return strings.TrimSuffix(list, filtered) + filtered
	}
	return ""
}
