package main

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"}
	for _, test := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(devel) go1.26"},
		{&debug.BuildInfo{}, "(devel) go1.26"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0 go1.26"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}}, "(devel) go1.26, commit 0123abcd"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}}, "(devel) go1.26, commit 0123abcd, modified"},
	} {
		if got := version(test.info, "go1.26"); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.info, got, test.want)
		}
	}
}
