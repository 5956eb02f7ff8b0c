package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// System is what every arm is told before anything else.
const System = "Complete the user's task with the tools you have. Then answer with the result alone: no other words."

// sizes are the points at which a family of workloads is run.
type sizes struct {
	calls   []int // of chain, fan-out and list-then-get
	pages   []int
	rows    int // of filter-large
	lines   int // of copy-large
	catalog []int
}

var (
	fullSizes  = sizes{calls: []int{1, 2, 3, 5, 10, 20, 50}, pages: []int{2, 10}, rows: 10_000, lines: 400, catalog: []int{10, 50, 400}}
	smallSizes = sizes{calls: []int{1, 3, 8}, pages: []int{2}, rows: 200, lines: 40, catalog: []int{5, 40}}
	liveSizes  = sizes{calls: []int{5}, pages: []int{3}, rows: 300, lines: 40, catalog: []int{50}}
)

// suite is the built-in workloads. Their data comes from the seed.
func suite(seed uint64, s sizes) []workload {
	list := []workload{single("Oslo")}
	for _, n := range s.calls {
		list = append(list, chain(seed, n))
	}
	for _, n := range s.calls {
		list = append(list, fanOut(seed, n))
	}
	for _, n := range s.calls {
		list = append(list, listThenGet(seed, n))
	}
	for _, n := range s.pages {
		list = append(list, paginate(seed, n))
	}
	list = append(list, filterLarge(seed, s.rows), copyLarge(seed, s.lines), retryOnError(), deniedThenFallback(), conditionalWrite())
	for _, k := range s.catalog {
		list = append(list, catalogue("catalogue", k, invented(k), "the definitions are made up"))
	}
	return list
}

// source is the random numbers of one workload.
func source(seed uint64, name string, n int) *rand.Rand {
	h := seed
	for _, b := range []byte(name) {
		h = h*1099511628211 + uint64(b)
	}
	return rand.New(rand.NewPCG(h, uint64(n)))
}

// codes are n different codes, such as "P-48213".
func codes(r *rand.Rand, prefix string, n int) []string {
	list := make([]string, n)
	for i, k := range r.Perm(90_000)[:n] {
		list[i] = fmt.Sprintf("%s-%d", prefix, 10_000+k)
	}
	return list
}

// nothing is the state of tools that change nothing.
func nothing() string { return "" }

// one asks for a single call and reads its result.
func one(ask ask, name string, args, into any) seen {
	s := ask(call{name, args})[0]
	if into != nil && !s.failed {
		s.into(into)
	}
	return s
}

type obj = map[string]any

func number(n int) answer { return answer{said: fmt.Sprint(n)} }

type weatherIn struct {
	City string `json:"city" jsonschema:"name of the city"`
}

type weatherOut struct {
	City    string `json:"city"`
	Celsius int    `json:"celsius"`
	Sky     string `json:"sky"`
}

func weatherTool() *tools.Definition {
	return typed("get_weather", "The weather in a city now.", func(in weatherIn) (weatherOut, error) {
		return weatherOut{in.City, 4 + len(in.City), "cloudy"}, nil
	})
}

func single(city string) workload {
	return workload{
		name: "single", about: "one call", find: "weather in a city",
		turns: []turn{{
			prompt: "How many degrees Celsius is it in " + city + "?",
			direct: func(ask ask) answer {
				var w weatherOut
				one(ask, "get_weather", weatherIn{city}, &w)
				return number(w.Celsius)
			},
			program: fmt.Sprintf("return (await tools.get_weather({city: %q})).celsius;", city),
		}},
		open: func() *world { return &world{defs: []*tools.Definition{weatherTool()}, state: nothing} },
	}
}

type codeIn struct {
	Code string `json:"code" jsonschema:"a code such as P-10000"`
}

type parcel struct {
	Code        string  `json:"code"`
	Weight      float64 `json:"weight_kg"`
	Carrier     string  `json:"carrier"`
	ForwardedAs string  `json:"forwarded_as,omitempty" jsonschema:"the code under which it travels on"`
}

func chain(seed uint64, n int) workload {
	r := source(seed, "chain", n)
	list := codes(r, "P", n+1)
	parcels := map[string]parcel{}
	for i, code := range list[:n] {
		parcels[code] = parcel{code, float64(r.IntN(900)) / 10, []string{"North", "Swift", "Blue"}[r.IntN(3)], list[i+1]}
	}
	return workload{
		name: "chain", size: n, about: "each call needs the result of the one before", find: "look up parcel",
		turns: []turn{{
			prompt: fmt.Sprintf("Parcel %s was forwarded %d times under new codes. Which code does it have after that?", list[0], n),
			direct: func(ask ask) answer {
				code := list[0]
				for range n {
					var p parcel
					one(ask, "get_parcel", codeIn{code}, &p)
					code = p.ForwardedAs
				}
				return answer{said: code}
			},
			program: fmt.Sprintf("let code = %q;\nfor (let i = 0; i < %d; i++) code = (await tools.get_parcel({code})).forwarded_as;\nreturn code;", list[0], n),
		}},
		open: func() *world {
			return &world{state: nothing, defs: []*tools.Definition{typed("get_parcel", "Look up a parcel by its code.", func(in codeIn) (parcel, error) {
				p, ok := parcels[in.Code]
				if !ok {
					return p, fmt.Errorf("no parcel %s", in.Code)
				}
				return p, nil
			})}}
		},
	}
}

type product struct {
	Code  string `json:"code"`
	Name  string `json:"name"`
	Price int    `json:"price_cents"`
	Stock int    `json:"stock"`
}

func fanOut(seed uint64, n int) workload {
	r := source(seed, "fan-out", n)
	list := codes(r, "S", n)
	products := map[string]product{}
	for i, code := range list {
		products[code] = product{code, fmt.Sprintf("Article %d", i+1), 100 + r.IntN(90_000), r.IntN(500)}
	}
	sum := func(all []product) (total int) {
		for _, p := range all {
			total += p.Price
		}
		return total
	}
	return workload{
		name: "fan-out", size: n, about: "calls that do not depend on each other", find: "product price",
		turns: []turn{{
			prompt: "What do these products cost together, in cents? " + strings.Join(list, " "),
			direct: func(ask ask) answer {
				var calls []call
				for _, code := range list {
					calls = append(calls, call{"get_product", codeIn{code}})
				}
				return number(sum(readAll[product](ask(calls...))))
			},
			program: fmt.Sprintf("const codes = %q.split(\" \");\nconst all = await Promise.all(codes.map(code => tools.get_product({code})));\nreturn all.reduce((sum, p) => sum + p.price_cents, 0);", strings.Join(list, " ")),
		}},
		open: func() *world {
			return &world{state: nothing, defs: []*tools.Definition{typed("get_product", "A product by its code, with price and stock.", func(in codeIn) (product, error) {
				return products[in.Code], nil
			})}}
		},
	}
}

// readAll reads results that have one type.
func readAll[T any](results []seen) []T {
	list := make([]T, len(results))
	for i, s := range results {
		s.into(&list[i])
	}
	return list
}

type order struct {
	Code     string `json:"code"`
	Customer string `json:"customer"`
	Items    []item `json:"items"`
	Status   string `json:"status"`
}

type item struct {
	Code     string `json:"code"`
	Quantity int    `json:"quantity"`
	Price    int    `json:"price_cents"`
}

func (o order) total() (sum int) {
	for _, i := range o.Items {
		sum += i.Quantity * i.Price
	}
	return sum
}

type customerIn struct {
	Customer string `json:"customer"`
}

func listThenGet(seed uint64, n int) workload {
	r := source(seed, "list-then-get", n)
	list := codes(r, "O", n)
	orders := map[string]order{}
	for _, code := range list {
		o := order{Code: code, Customer: "C-7", Status: []string{"open", "sent", "paid"}[r.IntN(3)]}
		for _, c := range codes(r, "S", 1+r.IntN(4)) {
			o.Items = append(o.Items, item{c, 1 + r.IntN(9), 100 + r.IntN(9_000)})
		}
		orders[code] = o
	}
	return workload{
		name: "list-then-get", size: n, about: "a list, then each of its members, then a sum", find: "orders of a customer",
		turns: []turn{{
			prompt: "What is the value of all orders of customer C-7 together, in cents?",
			direct: func(ask ask) answer {
				var found []string
				one(ask, "list_orders", customerIn{"C-7"}, &found)
				var calls []call
				for _, code := range found {
					calls = append(calls, call{"get_order", codeIn{code}})
				}
				sum := 0
				for _, o := range readAll[order](ask(calls...)) {
					sum += o.total()
				}
				return number(sum)
			},
			program: "let sum = 0;\nfor (const code of await tools.list_orders({customer: \"C-7\"})) {\n  const order = await tools.get_order({code});\n  for (const item of order.items) sum += item.quantity * item.price_cents;\n}\nreturn sum;",
		}},
		open: func() *world {
			return &world{state: nothing, defs: []*tools.Definition{
				typed("list_orders", "The codes of a customer's orders.", func(customerIn) ([]string, error) { return list, nil }),
				typed("get_order", "An order by its code, with its items.", func(in codeIn) (order, error) { return orders[in.Code], nil }),
			}}
		},
	}
}

type pageIn struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before; none for the first page"`
}

type page struct {
	Events []event `json:"events"`
	Next   string  `json:"next,omitempty"`
}

type event struct {
	ID   int    `json:"id"`
	Kind string `json:"kind"`
	User string `json:"user"`
}

const pageLength = 50

func paginate(seed uint64, pages int) workload {
	r := source(seed, "paginate", pages)
	events := make([]event, pages*pageLength)
	for i := range events {
		events[i] = event{i + 1, []string{"login", "purchase", "refund", "logout"}[r.IntN(4)], fmt.Sprintf("user%d", r.IntN(1_000))}
	}
	return workload{
		name: "paginate", size: pages, about: "page after page, one number wanted", find: "list events",
		turns: []turn{{
			prompt: "How many refunds are among the events?",
			direct: func(ask ask) answer {
				refunds := 0
				for cursor := ""; ; {
					var p page
					one(ask, "list_events", pageIn{cursor}, &p)
					for _, e := range p.Events {
						if e.Kind == "refund" {
							refunds++
						}
					}
					if cursor = p.Next; cursor == "" {
						return number(refunds)
					}
				}
			},
			program: "let refunds = 0, cursor;\ndo {\n  const page = await tools.list_events({cursor});\n  refunds += page.events.filter(e => e.kind === \"refund\").length;\n  cursor = page.next;\n} while (cursor);\nreturn refunds;",
		}},
		open: func() *world {
			return &world{state: nothing, defs: []*tools.Definition{typed("list_events", "A page of the event log.", func(in pageIn) (page, error) {
				at := 0
				if in.Cursor != "" {
					if _, err := fmt.Sscanf(in.Cursor, "from%d", &at); err != nil || at < 0 || at >= len(events) {
						return page{}, fmt.Errorf("no page %q", in.Cursor)
					}
				}
				p := page{Events: events[at : at+pageLength]}
				if at+pageLength < len(events) {
					p.Next = fmt.Sprintf("from%d", at+pageLength)
				}
				return p, nil
			})}}
		},
	}
}

type row struct {
	ID     int    `json:"id"`
	Region string `json:"region"`
	Cents  int    `json:"cents"`
	Open   bool   `json:"open"`
}

type tableIn struct {
	Table string `json:"table"`
}

func filterLarge(seed uint64, n int) workload {
	r := source(seed, "filter-large", n)
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{i + 1, []string{"north", "south", "east", "west"}[r.IntN(4)], r.IntN(100_000), r.IntN(3) == 0}
	}
	return workload{
		name: "filter-large", size: n, about: "many rows to one number", find: "rows of a table",
		turns: []turn{{
			prompt: "In the table invoices: what is the sum of the open ones in the region north, in cents?",
			direct: func(ask ask) answer {
				var all []row
				one(ask, "read_table", tableIn{"invoices"}, &all)
				sum := 0
				for _, r := range all {
					if r.Open && r.Region == "north" {
						sum += r.Cents
					}
				}
				return number(sum)
			},
			program: "const rows = await tools.read_table({table: \"invoices\"});\nreturn rows.filter(r => r.open && r.region === \"north\").reduce((sum, r) => sum + r.cents, 0);",
		}},
		open: func() *world {
			return &world{state: nothing, defs: []*tools.Definition{typed("read_table", "All rows of a table.", func(tableIn) ([]row, error) { return rows, nil })}}
		},
	}
}

type documentIn struct {
	Name string `json:"name"`
}

type document struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

var words = strings.Fields("account review of the quarter shows that delivery times fell while returns rose in two regions after prices changed and staff moved")

func copyLarge(seed uint64, lines int) workload {
	r := source(seed, "copy-large", lines)
	var text strings.Builder
	for range lines {
		for range 12 {
			text.WriteString(words[r.IntN(len(words))] + " ")
		}
		text.WriteString("\n")
	}
	return workload{
		name: "copy-large", size: lines, about: "a document from one tool into another", find: "read and store documents",
		turns: []turn{{
			prompt: "Copy the document minutes into the archive. Answer with its number of bytes.",
			direct: func(ask ask) answer {
				var d document
				one(ask, "read_document", documentIn{"minutes"}, &d)
				var bytes int
				one(ask, "archive_document", d, &bytes)
				return number(bytes)
			},
			program: "return await tools.archive_document(await tools.read_document({name: \"minutes\"}));",
		}},
		open: func() *world {
			archive := map[string]string{}
			return &world{
				state: func() string { return fmt.Sprint(archive) },
				defs: []*tools.Definition{
					typed("read_document", "A document by its name.", func(in documentIn) (document, error) { return document{in.Name, text.String()}, nil }),
					typed("archive_document", "Store a document in the archive; answers with its number of bytes.", func(in document) (int, error) {
						archive[in.Name] = in.Text
						return len(in.Text), nil
					}),
				},
			}
		},
	}
}

type report struct {
	Visitors int `json:"visitors"`
}

func retryOnError() workload {
	const busy = 2 // attempts that fail
	return workload{
		name: "retry-on-error", about: "a call that fails twice before it succeeds", find: "report",
		turns: []turn{{
			prompt: "How many visitors does the report of May count? The server is often busy: try again until it answers.",
			direct: func(ask ask) answer {
				for {
					var r report
					if s := one(ask, "get_report", obj{"month": "May"}, &r); !s.failed {
						return number(r.Visitors)
					}
				}
			},
			program: "for (let i = 0; i < 10; i++) {\n  try {\n    return (await tools.get_report({month: \"May\"})).visitors;\n  } catch (e) {\n    if (!e.message.includes(\"busy\")) throw e;\n  }\n}\nthrow new Error(\"still busy\");",
		}},
		open: func() *world {
			attempts := 0
			return &world{
				state: nothing,
				defs: []*tools.Definition{typed("get_report", "The report of a month.", func(struct {
					Month string `json:"month"`
				}) (report, error) {
					if attempts++; attempts <= busy {
						return report{}, fmt.Errorf("the server is busy, try again")
					}
					return report{5_310}, nil
				})},
			}
		},
	}
}

type payment struct {
	To    string `json:"to"`
	Cents int    `json:"cents"`
}

func deniedThenFallback() workload {
	return workload{
		name: "denied-then-fallback", about: "a guard denies a call, another is made", find: "send or request payment",
		turns: []turn{{
			prompt: "Send 90000 cents to Ada. If that is not allowed, request the payment instead. Answer with the number it gets.",
			direct: func(ask ask) answer {
				var id int
				if s := one(ask, "send_payment", payment{"Ada", 90_000}, &id); s.failed {
					one(ask, "request_payment", payment{"Ada", 90_000}, &id)
				}
				return number(id)
			},
			program: "const payment = {to: \"Ada\", cents: 90000};\ntry {\n  return await tools.send_payment(payment);\n} catch {\n  return await tools.request_payment(payment);\n}",
		}},
		open: func() *world {
			var sent, requested []payment
			return &world{
				guard: func(c tools.Call) string {
					if c.Name() == "send_payment" {
						return "payments over 50000 cents need a request"
					}
					return ""
				},
				state: func() string { return fmt.Sprint(sent, requested) },
				defs: []*tools.Definition{
					typed("send_payment", "Send a payment; answers with its number.", func(in payment) (int, error) {
						sent = append(sent, in)
						return 100 + len(sent), nil
					}),
					typed("request_payment", "Request a payment; answers with its number.", func(in payment) (int, error) {
						requested = append(requested, in)
						return 700 + len(requested), nil
					}),
				},
			}
		},
	}
}

func conditionalWrite() workload {
	return workload{
		name: "conditional-write", about: "a write that depends on a read", find: "stock level and reorder",
		turns: []turn{{
			prompt: "If fewer than 20 of article S-11 are in stock, order 50. Answer with the number ordered.",
			direct: func(ask ask) answer {
				var p product
				if one(ask, "get_stock", codeIn{"S-11"}, &p); p.Stock >= 20 {
					return number(0)
				}
				var ordered int
				one(ask, "reorder", obj{"code": "S-11", "quantity": 50}, &ordered)
				return number(ordered)
			},
			program: "const {stock} = await tools.get_stock({code: \"S-11\"});\nreturn stock < 20 ? await tools.reorder({code: \"S-11\", quantity: 50}) : 0;",
		}},
		open: func() *world {
			stock := 12
			return &world{
				state: func() string { return fmt.Sprint(stock) },
				defs: []*tools.Definition{
					typed("get_stock", "An article with its stock.", func(in codeIn) (product, error) {
						return product{in.Code, "Article", 250, stock}, nil
					}),
					typed("reorder", "Order more of an article; answers with the number ordered.", func(in struct {
						Code     string `json:"code"`
						Quantity int    `json:"quantity"`
					}) (int, error) {
						stock += in.Quantity
						return in.Quantity, nil
					}),
				},
			}
		},
	}
}
