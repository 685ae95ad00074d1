package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fields says which fields an object of AsyncAPI 3.0 has, required ones with
// a '!'. Fields that begin with x- are always allowed.
var fields = map[string]string{
	"document":       "asyncapi! info! id servers defaultContentType channels operations components",
	"info":           "title! version! termsOfService contact license tags externalDocs description",
	"server":         "host! protocol! protocolVersion pathname description title summary variables security tags externalDocs bindings",
	"channel":        "address messages title summary description servers parameters tags externalDocs bindings",
	"operation":      "action! channel! title summary description security tags externalDocs bindings traits messages reply",
	"message":        "headers payload correlationId contentType name title summary description tags externalDocs bindings examples traits",
	"components":     "schemas servers channels operations messages securitySchemes serverVariables parameters correlationIds replies replyAddresses externalDocs tags operationTraits messageTraits serverBindings channelBindings operationBindings messageBindings",
	"parameter":      "enum default description examples location",
	"securityScheme": "type! description name in scheme bearerFormat flows openIdConnectUrl scopes",
	"payload":        "schemaFormat! schema!",
}

// checker collects what breaks the rules.
type checker struct {
	t    *testing.T
	tree map[string]any
}

func (c *checker) object(kind, at string, value any) map[string]any {
	c.t.Helper()
	o, ok := value.(map[string]any)
	if !ok {
		c.t.Errorf("%s is no object", at)
		return nil
	}
	var known []string
	for name := range strings.FieldsSeq(fields[kind]) {
		plain := strings.TrimSuffix(name, "!")
		known = append(known, plain)
		if _, there := o[plain]; plain != name && !there {
			c.t.Errorf("%s lacks %s", at, plain)
		}
	}
	for name := range o {
		if !strings.HasPrefix(name, "x-") && !slices.Contains(known, name) {
			c.t.Errorf("%s: a %s has no field %s", at, kind, name)
		}
	}
	return o
}

// each checks every entry of a map of objects, and its name.
func (c *checker) each(kind, at string, value any, check func(at string, o map[string]any)) {
	c.t.Helper()
	entries, ok := value.(map[string]any)
	if !ok || len(entries) == 0 {
		c.t.Errorf("%s is no object with entries", at)
	}
	name := regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)
	for key, entry := range entries {
		if !name.MatchString(key) {
			c.t.Errorf("%s: %q is not a name", at, key)
		}
		check(at+"/"+key, c.object(kind, at+"/"+key, entry))
	}
}

// refs checks that every reference below value leads somewhere.
func (c *checker) refs(at string, value any) {
	c.t.Helper()
	switch v := value.(type) {
	case map[string]any:
		if r, ok := v["$ref"].(string); ok {
			if err := c.resolve(r); err != nil {
				c.t.Errorf("%s: %v", at, err)
			}
		}
		for key, child := range v {
			c.refs(at+"/"+key, child)
		}
	case []any:
		for i, child := range v {
			c.refs(fmt.Sprintf("%s/%d", at, i), child)
		}
	}
}

func (c *checker) resolve(r string) error {
	path, ok := strings.CutPrefix(r, "#/")
	if !ok {
		_, err := os.Stat(filepath.FromSlash(r))
		return err
	}
	var at any = c.tree
	for step := range strings.SplitSeq(path, "/") {
		o, _ := at.(map[string]any)
		if at, ok = o[step]; !ok {
			return fmt.Errorf("%s leads nowhere", r)
		}
	}
	return nil
}

func TestDocumentFollowsAsyncAPI(t *testing.T) {
	t.Parallel()
	d, tree := load(t)
	c := &checker{t: t, tree: tree}
	c.refs("#", tree)
	root := c.object("document", "#", tree)
	if root["asyncapi"] != "3.0.0" {
		t.Errorf("asyncapi is %v, want 3.0.0", root["asyncapi"])
	}
	c.object("info", "info", root["info"])
	c.each("server", "servers", root["servers"], func(string, map[string]any) {})
	c.each("channel", "channels", root["channels"], func(at string, _ map[string]any) { checkChannel(t, at, d) })
	c.each("operation", "operations", root["operations"], func(at string, _ map[string]any) { checkOperation(t, at, d) })
	components := c.object("components", "components", root["components"])
	c.each("parameter", "components/parameters", components["parameters"], func(string, map[string]any) {})
	c.each("securityScheme", "components/securitySchemes", components["securitySchemes"], func(at string, o map[string]any) {
		if o["type"] != "userPassword" {
			t.Errorf("%s has type %v, want userPassword", at, o["type"])
		}
	})
	c.each("message", "components/messages", components["messages"], func(at string, o map[string]any) {
		c.object("payload", at+"/payload", o["payload"])
	})
}

// checkChannel checks that an address and its parameters agree.
func checkChannel(t *testing.T, at string, d document) {
	t.Helper()
	c := d.Channels[strings.TrimPrefix(at, "channels/")]
	if c.Address == "" || strings.ContainsAny(c.Address, "*> ") {
		t.Errorf("%s has the address %q", at, c.Address)
	}
	var inAddress []string
	for _, found := range regexp.MustCompile(`\{([a-z]+)\}`).FindAllStringSubmatch(c.Address, -1) {
		inAddress = append(inAddress, found[1])
		if _, ok := c.Parameters[found[1]]; !ok {
			t.Errorf("%s does not define its parameter %s", at, found[1])
		}
	}
	for name := range c.Parameters {
		if !slices.Contains(inAddress, name) {
			t.Errorf("%s defines the parameter %s, which is not in its address", at, name)
		}
	}
}

// checkOperation checks that an operation's messages are of its channel.
func checkOperation(t *testing.T, at string, d document) {
	t.Helper()
	o := d.Operations[strings.TrimPrefix(at, "operations/")]
	if o.Action != "send" && o.Action != "receive" {
		t.Errorf("%s has the action %q, want send or receive", at, o.Action)
	}
	if len(o.Messages) == 0 || len(o.Security) == 0 || o.User == "" {
		t.Errorf("%s lacks messages, security or x-user", at)
	}
	if !strings.HasPrefix(o.Channel.Ref, "#/channels/") {
		t.Errorf("%s refers to the channel %s", at, o.Channel.Ref)
	}
	for _, m := range o.Messages {
		if !strings.HasPrefix(m.Ref, o.Channel.Ref+"/messages/") {
			t.Errorf("%s has the message %s of another channel", at, m.Ref)
		}
	}
}
