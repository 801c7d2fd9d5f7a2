//go:build tools

// Package tools names the programs that the tests build, of the version in go.mod.
package tools

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
