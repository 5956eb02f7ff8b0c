package cardview

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// TestMapTexts fills every text of a card by reflection, so that a member added
// later cannot be forgotten.
func TestMapTexts(t *testing.T) {
	var card, want tools.Card
	fill(reflect.ValueOf(&card).Elem(), "secret")
	fill(reflect.ValueOf(&want).Elem(), "hidden")
	got := MapTexts(card, func(s string) string { return strings.ReplaceAll(s, "secret", "hidden") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the card differs (-want +got):\n%s", diff)
	}
	var unchanged tools.Card
	fill(reflect.ValueOf(&unchanged).Elem(), "secret")
	if diff := cmp.Diff(unchanged, card); diff != "" {
		t.Errorf("the given card was changed (-want +got):\n%s", diff)
	}
}

// notTexts are members no card shows as they are.
var notTexts = map[string]bool{"Type": true, "Action": true, "Data": true, "MIMEType": true, "URI": true}

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			if !notTexts[v.Type().Field(i).Name] {
				fill(v.Field(i), text)
			}
		}
	}
}
