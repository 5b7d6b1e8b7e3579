// Command oracle asks Karpenter what it would do: its own provisioner and disruption methods, run on scenarios instead
// of a cluster.
//
//	oracle [-runs N] [-consolidate | -converge LIMIT] SCENARIO.json[.gz]...
//
// In come files of scenarios (scenario.Scenario). Out goes one line of JSON a scenario, {"file": "…", "plans": [PLAN,
// …]}, with one plan a run, since Karpenter packs in parallel and its maps have no order. A plan is a scenario.Plan;
// with -consolidate a DisruptionPlan, with -converge a Trail.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"karpenter-serverless/test/go/internal/scenario"
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
		asked, err := scenario.Read[scenario.Scenario](file)
		if err != nil {
			fail(err)
		}
		answer := struct {
			File  string `json:"file"`
			Plans []any  `json:"plans"`
		}{File: file}
		for range *runs {
			plan, err := ask(context.Background(), asked, *consolidate, *converge)
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

func ask(ctx context.Context, about *scenario.Scenario, consolidate bool, converge time.Duration) (any, error) {
	world, err := newWorld(ctx, about)
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

func fail(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(1)
}
