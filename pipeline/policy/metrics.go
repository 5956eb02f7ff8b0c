package policy

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/pipeline"
)

// OtherTools is the name under which Metrics counts calls that mean no tool,
// since a model may make up any number of names, and those of tools beyond the
// first 1000.
const OtherTools = "(other)"

const maxMetricsTools = 1000

// Metrics counts settled calls and adds up how long they took, by tool and
// state. The zero Metrics has counted nothing and is ready. All methods are safe
// for concurrent use; a Metrics must not be copied.
type Metrics struct {
	mu    sync.Mutex
	tools map[string]map[pipeline.State]*CallStats
}

// CallStats is what is known of the calls of one tool that ended in one state.
// Durations are those of pipeline.Outcome.Took: from the request to the
// outcome, questions to a person and waits for a permit included. In JSON they
// are nanoseconds.
type CallStats struct {
	Tool  string         `json:"tool"`
	State pipeline.State `json:"state"`
	Calls int64          `json:"calls"`
	Total time.Duration  `json:"totalNs"`
	Min   time.Duration  `json:"minNs"`
	Max   time.Duration  `json:"maxNs"`
}

// Observe counts a call. Register it with Pipeline.OnResult: denied calls and
// those no listener sees are counted, too. A call of run_code lasts as long as
// its program, whose calls are counted besides.
func (m *Metrics) Observe(o pipeline.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats(o)
	took := o.Took()
	if s.Calls == 0 {
		s.Min, s.Max = took, took
	}
	s.Calls++
	s.Total += took
	s.Min, s.Max = min(s.Min, took), max(s.Max, took)
}

// stats is where the call counts; mu is held.
func (m *Metrics) stats(o pipeline.Outcome) *CallStats {
	tool := o.Call().Name()
	if o.Call().Tool() == nil || m.tools[tool] == nil && len(m.tools) >= maxMetricsTools {
		tool = OtherTools
	}
	if m.tools == nil {
		m.tools = map[string]map[pipeline.State]*CallStats{}
	}
	states := m.tools[tool]
	if states == nil {
		states = map[pipeline.State]*CallStats{}
		m.tools[tool] = states
	}
	if states[o.State()] == nil {
		states[o.State()] = &CallStats{Tool: tool, State: o.State()}
	}
	return states[o.State()]
}

// Snapshot is a copy of everything so far, by tool and then by state.
func (m *Metrics) Snapshot() []CallStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []CallStats{}
	for _, states := range m.tools {
		for _, s := range states {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b CallStats) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.State, b.State))
	})
	return all
}
