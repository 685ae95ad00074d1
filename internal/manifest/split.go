package manifest

import "bytes"

// document is one document of a stream, with the line on which it starts.
type document struct {
	line int
	text []byte
}

// split cuts text at the lines that separate YAML documents. JSON documents
// are YAML, so they are separated in the same way. A document that begins
// with "--- text" on the separator's line keeps that text.
func split(text []byte) []document {
	docs := []document{{line: 1}}
	start, line := 0, 1
	for start < len(text) {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		current := text[start:end]
		if rest, ok := separator(current); ok {
			docs = append(docs, document{line: line + 1, text: rest})
			if len(rest) > 0 {
				docs[len(docs)-1].line = line
			}
		} else {
			last := &docs[len(docs)-1]
			last.text = append(last.text, current...)
		}
		start, line = end, line+1
	}
	return docs
}

// separator reports whether line separates documents, and what else stands
// on it.
func separator(line []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	if !ok {
		return nil, false
	}
	content := bytes.TrimSpace(rest)
	switch {
	case len(content) == 0, content[0] == '#':
		return nil, true
	case rest[0] == ' ' || rest[0] == '\t':
		return append(bytes.Clone(content), '\n'), true
	}
	return nil, false
}
