// Command kube-filters asks kube-scheduler's own filters whether the pods of a plan would be bound where the plan means
// them to be.
//
//	kube-filters SCENARIOS PLANS
//
// In come NNN.plan.json (scenario.Plan) of the second folder, each with NNN.scenario.json (scenario.Scenario) of the
// first. Out goes one line of JSON a plan, {"file", "violations"}: the pods that no order tried could place, each with
// the filter's reason. A pair that cannot be read or played has "error" instead.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"karpenter-serverless/test/go/internal/scenario"
)

type verdict struct {
	File       string      `json:"file"`
	Violations []violation `json:"violations"`
	Error      string      `json:"error,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kube-filters SCENARIOS PLANS (folders of NNN.scenario.json and NNN.plan.json)")
		os.Exit(2)
	}
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("logtostderr", "false")
	_ = quiet.Set("stderrthreshold", "FATAL")
	metrics.Register()
	plans, err := filepath.Glob(filepath.Join(os.Args[2], "*.plan.json"))
	if err != nil || len(plans) == 0 {
		fmt.Fprintf(os.Stderr, "there is no NNN.plan.json in %s\n", os.Args[2])
		os.Exit(2)
	}
	verdicts := make([]verdict, len(plans))
	work := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range work {
				name := strings.TrimSuffix(filepath.Base(plans[i]), ".plan.json")
				verdicts[i] = judgeFile(name, filepath.Join(os.Args[1], name+".scenario.json"), plans[i])
			}
		})
	}
	for i := range plans {
		work <- i
	}
	close(work)
	workers.Wait()
	out := json.NewEncoder(os.Stdout)
	for _, one := range verdicts {
		if err := out.Encode(one); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// judgeFile never fails: the verdict has the error.
func judgeFile(name, scenarioPath, planPath string) verdict {
	s, err := scenario.Read[scenario.Scenario](scenarioPath)
	if err != nil {
		return verdict{File: name, Violations: []violation{}, Error: err.Error()}
	}
	p, err := scenario.Read[scenario.Plan](planPath)
	if err != nil {
		return verdict{File: name, Violations: []violation{}, Error: err.Error()}
	}
	violations, err := newJudged(s, p).judge(context.Background())
	if err != nil {
		return verdict{File: name, Violations: []violation{}, Error: err.Error()}
	}
	return verdict{File: name, Violations: violations}
}
