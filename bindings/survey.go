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
	labels   map[*node]string // what the first reference called a target
	links    map[*node][]link // references out of the schemas
}

// deepSchema is the depth from which on references are not printed in place any
// more: a chain of references of any length must not become a stack as deep.
const deepSchema = 2_000

type link struct {
	reference string
	target    *node // nil: not in this document
}

func newSurvey(doc *document) *survey {
	s := &survey{doc: doc, arrivals: map[*node]int{}, labels: map[*node]string{}, links: map[*node][]link{}}
	type place struct {
		n     *node
		depth int // schemas around it that are printed in one piece with it
	}
	todo := []place{{doc.root, 0}}
	for len(todo) > 0 {
		n, depth := todo[len(todo)-1].n, todo[len(todo)-1].depth
		todo = todo[:len(todo)-1]
		s.arrivals[n]++
		if s.arrivals[n] > 1 {
			continue
		}
		if _, isTarget := s.labels[n]; isTarget && depth > deepSchema {
			s.arrivals[n]++ // give it a name, which starts a new piece
			depth = 0
		}
		next := subschemas(n)
		targets, references := doc.targets(n)
		for i, target := range targets {
			s.links[n] = append(s.links[n], link{references[i], target})
			if target == nil {
				continue
			}
			if _, known := s.labels[target]; !known {
				s.labels[target] = referenceLabel(references[i])
				s.targets = append(s.targets, target)
			}
			next = append(next, target)
		}
		for i := len(next) - 1; i >= 0; i-- { // depth first, in document order
			todo = append(todo, place{next[i], depth + 1})
		}
	}
	return s
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

// smallSchema is the size in bytes up to which a schema without parts is
// printed in every place rather than named.
const smallSchema = 120

// nameable reports whether a schema may become a named type: one that has parts
// or is long. Recursion always has parts.
func (s *survey) nameable(n *node) bool {
	return n.is(jsonscan.ObjectStart) &&
		(len(n.text) > smallSchema || len(s.links[n]) > 0 || len(subschemas(n)) > 0)
}

// The number of reference targets, and the bytes of their texts, up to which a
// document's named types are compared with those of other tools. Targets can
// lie in each other, so that a short document may have long texts.
const (
	fewTargets   = 256
	comparedText = 4 << 20
)

// keys identifies what each target means: two targets with one key, also of
// different tools, are one type. A target's key covers its own text and that of
// everything it refers to.
func (s *survey) keys(document int) map[*node]string {
	keys := make(map[*node]string, len(s.targets))
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
