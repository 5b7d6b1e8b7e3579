// Command oracle asks Karpenter what it would do: its own provisioner and disruption methods, run on scenarios instead of a cluster.
//
//	oracle [-runs N] [-consolidate | -converge LIMIT] SCENARIO.json[.gz]...
//
// prints one JSON line a scenario: {"file": "…", "plans": [PLAN, …]}, one plan a run, since Karpenter packs in parallel and its maps
// have no order.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	runs := flag.Int("runs", 1, "how often each scenario is solved")
	consolidate := flag.Bool("consolidate", false, "ask the disruption methods instead of the provisioner")
	converge := flag.Duration("converge", 0, "carry out what is decided until nothing more is, deciding for at most so much CPU time (such as 10m)")
	flag.Parse()
	log.SetLogger(logr.Discard())
	if flag.NArg() == 0 {
		fail(fmt.Errorf("name at least one scenario file"))
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, file := range flag.Args() {
		scenario, err := readScenario(file)
		if err != nil {
			fail(fmt.Errorf("%s is not a scenario: %w", file, err))
		}
		answer := struct {
			File  string `json:"file"`
			Plans []any  `json:"plans"`
		}{File: file}
		for range *runs {
			plan, err := ask(context.Background(), scenario, *consolidate, *converge)
			if err != nil {
				fail(fmt.Errorf("Karpenter refused %s: %w", file, err))
			}
			answer.Plans = append(answer.Plans, plan)
		}
		if err := json.NewEncoder(out).Encode(answer); err != nil {
			fail(err)
		}
	}
}

func ask(ctx context.Context, scenario *Scenario, consolidate bool, converge time.Duration) (any, error) {
	world, err := newWorld(ctx, scenario)
	if err != nil {
		return nil, err
	}
	if converge > 0 {
		return world.converge(converge)
	}
	if consolidate {
		return world.consolidate()
	}
	return world.solve()
}

func readScenario(file string) (*Scenario, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		reader, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
	scenario := &Scenario{}
	return scenario, json.Unmarshal(data, scenario)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(1)
}
