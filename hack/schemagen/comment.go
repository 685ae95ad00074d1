package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// comments holds the text of the comments on types, by TYPE, and on their
// fields, by TYPE.FIELD, as one line each.
type comments map[string]string

func readComments(dir string) (comments, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	c := comments{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				c.addTypes(d)
			}
		}
	}
	return c, nil
}

func (c comments) addTypes(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		c[s.Name.Name] = oneLine(d.Doc)
		if t, ok := s.Type.(*ast.StructType); ok {
			c.addFields(s.Name.Name, t)
		}
	}
}

// addFields takes the comment above a field, or else the one behind it.
func (c comments) addFields(owner string, t *ast.StructType) {
	for _, f := range t.Fields.List {
		text := oneLine(f.Doc)
		if text == "" {
			text = oneLine(f.Comment)
		}
		for _, name := range f.Names {
			c[owner+"."+name.Name] = text
		}
	}
}

func oneLine(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }
