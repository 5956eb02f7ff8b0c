// Package bindings makes what a program sees of a set of tools and what the
// model is told about it: the namespace with every tool under its exact name,
// the TypeScript declarations of arguments and results, the instructions, and
// the schema of the run_code tool itself. Where there are more tools than a
// prompt has room for, it makes a list of them and the answers of the global
// "catalog", in which a program looks for the rest.
//
// It runs nothing and decides nothing. Everything it makes depends on the set
// of tools alone, never on the order of registration, so that a prompt which
// holds it stays byte for byte the same and provider caches keep working.
package bindings
