// Package pipelinetest has what tests of listeners, guards, approvers and
// whole pipelines need: a sink that records, an approver that answers from a
// script, small tools, a clock and ids that repeat. SameInside checks that a
// policy decides the same about a call a model makes and one a program makes;
// CheckLog checks the log a scheduler, a sink or a tool that nests calls leaves.
package pipelinetest
