package bindings

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// survey is one schema document with every place counted that its printed type
// would reach, so that what is reached twice (all recursion is) becomes a named
// type and the text stays linear in the size of the schema.
type survey struct {
	doc      *document
	arrivals map[*node]int
	targets  []*node          // the targets of references, in order of discovery
	labels   map[*node]string // what the first reference called a target, or the property an object
	links    map[*node][]link // references out of the schemas
	objects  []*node          // described in place, perhaps in several places
}

// deepSchema is the depth from which on references are not printed in place any
// more, so that a chain of them is not cut at maxNesting.
const deepSchema = 64

type link struct {
	reference string
	target    *node // nil: not in this document
}

// place is a schema on the way through a document.
type place struct {
	n     *node
	depth int    // schemas around it that are printed in one piece with it
	label string // the property it is the value of, or is in
}

func newSurvey(doc *document) *survey {
	s := &survey{doc: doc, arrivals: map[*node]int{}, labels: map[*node]string{}, links: map[*node][]link{}}
	var objects []place
	for todo := []place{{n: doc.root}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s.arrivals[at.n]++
		if s.arrivals[at.n] > 1 {
			continue
		}
		if _, isTarget := s.labels[at.n]; isTarget && at.depth > deepSchema {
			s.arrivals[at.n]++ // give it a name, which starts a new piece
			at.depth = 0
		}
		properties := at.n.object("properties")
		if properties != nil && len(at.n.text) > smallSchema {
			objects = append(objects, at)
		}
		next := append(subschemas(at.n), s.follow(at.n)...)
		for i := len(next) - 1; i >= 0; i-- { // depth first, in document order
			label := at.label
			if properties != nil && i < len(properties.names) { // these come first
				label = properties.names[i]
			}
			todo = append(todo, place{next[i], at.depth + 1, label})
		}
	}
	s.keep(objects)
	return s
}

// follow notes the references of a schema and returns where they lead.
func (s *survey) follow(n *node) []*node {
	var found []*node
	targets, references := s.doc.targets(n)
	for i, target := range targets {
		s.links[n] = append(s.links[n], link{references[i], target})
		if target == nil {
			continue
		}
		if _, known := s.labels[target]; !known {
			s.labels[target] = referenceLabel(references[i])
			s.targets = append(s.targets, target)
		}
		found = append(found, target)
	}
	return found
}

// keep notes the objects that are no targets and whose texts alone say what they
// mean.
func (s *survey) keep(objects []place) {
	total := 0
	for _, at := range objects {
		total += len(at.n.text)
		if _, isTarget := s.labels[at.n]; !isTarget && total <= comparedText && !mayRefer(at.n.text) {
			s.objects = append(s.objects, at.n)
			s.labels[at.n] = at.label
		}
	}
}

// subschemas are the schemas directly inside n that its type is made of.
func subschemas(n *node) []*node {
	if !n.is(jsonscan.ObjectStart) {
		return nil
	}
	var subs []*node
	for _, keyword := range []string{"properties", "patternProperties"} {
		if group := n.object(keyword); group != nil {
			subs = append(subs, group.kids...)
		}
	}
	for _, keyword := range []string{"additionalProperties", "items", "additionalItems"} {
		if sub := n.object(keyword); sub != nil {
			subs = append(subs, sub)
		}
	}
	for _, keyword := range schemaListKeywords {
		subs = append(subs, n.elements(keyword)...)
	}
	return subs
}

// referenceLabel is the last word of a reference: "Row" of "#/$defs/Row", ""
// of "#".
func referenceLabel(reference string) string {
	return reference[strings.LastIndexAny(reference, "/#:")+1:]
}

// smallSchema is the size in bytes up to which a schema without references is
// printed in every place rather than named.
const smallSchema = 120

// nameable reports whether a schema may become a named type: one that is long or
// refers to others, as all recursion does.
func (s *survey) nameable(n *node) bool {
	return n.is(jsonscan.ObjectStart) && (len(n.text) > smallSchema || len(s.linksWithin(n)) > 0)
}

// The number of targets, and the bytes of their texts, up to which a
// document's named types are compared with those of other tools. Targets can
// lie in each other, so that a short document may have long texts.
const (
	fewTargets   = 256
	comparedText = 4 << 20
)

// keys identifies what each target and each object means: those with one key,
// also of different tools, are one type. A key covers the schema's own text and
// that of everything it refers to.
func (s *survey) keys(document int) map[*node]string {
	keys := make(map[*node]string, len(s.targets)+len(s.objects))
	for _, n := range s.objects {
		digest := sha256.Sum256([]byte(n.text))
		digest = sha256.Sum256(digest[:])
		keys[n] = string(digest[:])
	}
	total := 0
	for i, target := range s.targets {
		keys[target] = fmt.Sprintf("%d.%d", document, i)
		total += len(target.text)
	}
	if len(s.targets) > fewTargets || total > comparedText {
		return keys
	}
	digests := make(map[*node][sha256.Size]byte, len(s.targets))
	links := make(map[*node][]link, len(s.targets))
	for _, target := range s.targets {
		digests[target] = sha256.Sum256([]byte(target.text))
		links[target] = s.linksWithin(target)
	}
	for _, target := range s.targets {
		hash := sha256.New()
		seen := map[*node]bool{target: true}
		for todo := []*node{target}; len(todo) > 0; {
			n := todo[0]
			todo = todo[1:]
			digest := digests[n]
			hash.Write(digest[:])
			for _, l := range links[n] {
				if l.target == nil {
					hash.Write([]byte{0})
				} else if !seen[l.target] {
					seen[l.target] = true
					todo = append(todo, l.target)
				}
			}
		}
		keys[target] = string(hash.Sum(nil))
	}
	return keys
}

// linksWithin are the references in the text of target, each once, in a fixed
// order and without following them.
func (s *survey) linksWithin(target *node) []link {
	var links []link
	seen := map[link]bool{}
	for todo := []*node{target}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], subschemas(n)...)
		for _, l := range s.links[n] {
			if !seen[l] {
				seen[l] = true
				links = append(links, l)
			}
		}
	}
	return links
}
