package cardview

import (
	"slices"

	"github.com/runcode-go/runcode/tools"
)

// MapTexts returns a card in which f has replaced every text a program, a tool
// or a file may have written: to take secrets out of it, for one. The given card
// stays as it is.
func MapTexts(card tools.Card, f func(string) string) tools.Card {
	for _, text := range []*string{
		&card.Title, &card.Description, &card.Command, &card.Dir, &card.Output, &card.Signal, &card.Path, &card.Text,
	} {
		*text = f(*text)
	}
	card.Content = mapped(card.Content, func(b *tools.Content) { b.Text = f(b.Text) })
	card.Locations = mapped(card.Locations, func(l *tools.Location) { l.Path = f(l.Path) })
	card.Diffs = mapped(card.Diffs, func(d *tools.Diff) { d.Path, d.Old, d.New = f(d.Path), f(d.Old), f(d.New) })
	card.Matches = mapped(card.Matches, func(m *tools.Match) { m.Path, m.Text = f(m.Path), f(m.Text) })
	card.Paths = mapped(card.Paths, func(p *string) { *p = f(*p) })
	return card
}

func mapped[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}
