// Package hotpaths holds no code: it measures the paths that every run takes,
// from the empty program to hundreds at once, beside what stands for the least
// they could cost. docs/performance.md says what each row is.
//
//	go test ./internal/hotpaths -bench . -benchtime 200ms
//	go test ./internal/hotpaths -run Ratios -ratios
package hotpaths
