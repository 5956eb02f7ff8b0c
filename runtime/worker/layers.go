package worker

import (
	"fmt"
	"slices"
	"strings"
)

// Layer is one protection around a worker, beside its being a process of its
// own. All hold before the first byte of a program arrives.
type Layer struct {
	Name  string     `json:"name"` // one of LayerNames
	State LayerState `json:"state"`
	Note  string     `json:"note,omitzero"` // why it is not on, or what it leaves open
}

// LayerState says whether a layer holds.
type LayerState string

const (
	LayerOn      LayerState = "on"      // it holds
	LayerMissing LayerState = "missing" // this system does not offer it
	LayerOff     LayerState = "off"     // Options.Without names it, or this build cannot bear it
)

// The layers there are, from the outside in.
const (
	LayerPrivileges  = "no-new-privileges" // no executed file gives more rights; on Windows none is executed, and the user's are gone
	LayerLandlock    = "landlock"          // no files, no network, no foreign processes
	LayerNamespaces  = "namespaces"        // a user without rights and a network without devices
	LayerFiles       = "file-limits"       // no byte to a file; on Unix few descriptors and no core, too
	LayerMemory      = "memory-limit"      // on what it allocates, from Limits.Heap, set from outside
	LayerCPU         = "cpu-limit"         // on its processor time, from Limits.Compute, set from outside
	LayerSeccomp     = "seccomp"           // the system calls of a Go program that computes
	LayerDescriptors = "descriptors"       // package initialisation left none open
)

var layerNames = []string{LayerPrivileges, LayerLandlock, LayerNamespaces, LayerFiles, LayerMemory, LayerCPU, LayerSeccomp, LayerDescriptors}

// LayerNames lists all layers, in the order of Runtime.Layers. As Options.Require
// it refuses to start unless every one holds.
func LayerNames() []string { return slices.Clone(layerNames) }

// inherent are the layers that cannot be left out: others stand on the first,
// and the last is a finding.
var inherent = []string{LayerPrivileges, LayerDescriptors}

// checkLayerNames validates Options.Require and Options.Without.
func checkLayerNames(require, without []string) error {
	for option, names := range map[string][]string{"Require": require, "Without": without} {
		for _, name := range names {
			if !slices.Contains(layerNames, name) {
				return &startError{problem: fmt.Sprintf("%s names the layer %q; there are %s", option, name, strings.Join(layerNames, ", "))}
			}
		}
	}
	for _, name := range without {
		switch {
		case slices.Contains(require, name):
			return &startError{problem: fmt.Sprintf("the layer %s is both required and left out", name)}
		case slices.Contains(inherent, name):
			return &startError{problem: fmt.Sprintf("the layer %s cannot be left out", name)}
		}
	}
	return nil
}

// leftOut is the layer of a name that Options.Without lists.
func leftOut(name string) Layer {
	return Layer{Name: name, State: LayerOff, Note: "left out by Without"}
}

// needsLinux is the note of a layer of which nobody says anything.
const needsLinux = "needs Linux"

// mergeLayers puts together what several places know of a worker. A layer is on
// if nobody says otherwise, and missing where nobody says anything.
func mergeLayers(known []Layer) []Layer {
	all := make([]Layer, len(layerNames))
	for i, name := range layerNames {
		all[i] = Layer{Name: name, State: LayerMissing, Note: needsLinux}
		said := slices.DeleteFunc(slices.Clone(known), func(l Layer) bool { return l.Name != name })
		if len(said) == 0 {
			continue
		}
		all[i] = said[0]
		for _, l := range said[1:] {
			if all[i].State == LayerOn && (l.State != LayerOn || all[i].Note == "") {
				all[i] = l
			}
		}
	}
	return all
}

// lostLayer is the problem with a worker that lacks what the first one had, nil
// if it lacks nothing.
func lostLayer(first, now []Layer) error {
	for i, before := range first {
		if l := now[i]; before.State == LayerOn && l.State != LayerOn {
			return &startError{problem: fmt.Sprintf("its layer %s is %s (%s), which earlier workers had", l.Name, l.State, l.Note)}
		}
	}
	return nil
}

// lackedLayer is the problem with a worker without a required layer, nil if it
// has all of them.
func lackedLayer(require []string, now []Layer) error {
	for _, l := range now {
		if l.State != LayerOn && slices.Contains(require, l.Name) {
			return &startError{problem: fmt.Sprintf("the layer %s is required and %s: %s", l.Name, l.State, l.Note)}
		}
	}
	return nil
}
