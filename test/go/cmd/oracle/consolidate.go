package main

import (
	"context"
	"math"
	"time"

	"sigs.k8s.io/karpenter/pkg/controllers/disruption"

	"karpenter-serverless/test/go/internal/scenario"
)

// DisruptionPlan is one pass over the disruption methods: the first that finds something to do decides.
type DisruptionPlan struct {
	Commands []PlannedCommand            `json:"commands"`
	Methods  map[string][]PlannedCommand `json:"methods"`
}

// PlannedCommand is what one method would do.
type PlannedCommand struct {
	Method       string                  `json:"method"`
	Candidates   []string                `json:"candidates"`
	Replacements []scenario.PlannedClaim `json:"replacements"`
	Decision     string                  `json:"decision"`
	Savings      float64                 `json:"savings"`
}

// trusting lets every command through: a scenario does not change in the 15 seconds for which Karpenter would wait.
type trusting struct{}

func (trusting) Validate(_ context.Context, command disruption.Command, _ time.Duration) (disruption.Command, error) {
	return command, nil
}

type namedMethod struct {
	name   string
	method disruption.Method
}

// methods makes new instances of Karpenter's methods, in its order, without the memory of earlier passes.
func (w *world) methods() ([]namedMethod, *disruption.Queue) {
	queue := disruption.NewQueue(w.client, w.recorder, w.cluster, w.clock, w.provisioner)
	base := disruption.MakeConsolidation(w.clock, w.cluster, w.client, w.provisioner, w.cloud, w.recorder, queue)
	trust := disruption.WithValidator(trusting{})
	return []namedMethod{
		{"emptiness", disruption.NewEmptiness(base, trust)},
		{"drift", disruption.NewDrift(w.client, w.cluster, w.provisioner, w.recorder, w.clock)},
		{"multi", disruption.NewMultiNodeConsolidation(base, trust)},
		{"single", disruption.NewSingleNodeConsolidation(base, trust)},
	}, queue
}

func (w *world) consolidate() (*DisruptionPlan, error) {
	methods, queue := w.methods()
	plan := &DisruptionPlan{Commands: []PlannedCommand{}, Methods: map[string][]PlannedCommand{}}
	for _, m := range methods {
		commands, err := w.commandsOf(m.method, queue)
		if err != nil {
			return nil, err
		}
		planned := []PlannedCommand{}
		for _, command := range commands {
			if command.Decision() != disruption.NoOpDecision {
				planned = append(planned, plannedCommand(m.name, command))
			}
		}
		plan.Methods[m.name] = planned
		if len(plan.Commands) == 0 {
			plan.Commands = planned
		}
	}
	return plan, nil
}

func (w *world) commandsOf(method disruption.Method, queue *disruption.Queue) ([]disruption.Command, error) {
	candidates, totals, err := disruption.GetCandidatesWithTotals(w.ctx, w.cluster, w.client, w.recorder, w.clock, w.cloud,
		method.ShouldDisrupt, method.Class(), queue, nil)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	if setter, ok := method.(disruption.NodePoolTotalsSetter); ok {
		setter.SetNodePoolTotals(totals)
	}
	budgets, err := disruption.BuildDisruptionBudgetMapping(w.ctx, w.cluster, w.clock, w.client, w.cloud, w.recorder, method.Reason())
	if err != nil {
		return nil, err
	}
	return method.ComputeCommands(w.ctx, budgets, candidates...)
}

func plannedCommand(method string, command disruption.Command) PlannedCommand {
	planned := PlannedCommand{
		Method:       method,
		Candidates:   command.SourceNodeNames(),
		Replacements: []scenario.PlannedClaim{},
		Decision:     string(command.Decision()),
		Savings:      math.Round(command.EstimatedSavings()*1e4) / 1e4,
	}
	for _, replacement := range command.Replacements {
		planned.Replacements = append(planned.Replacements, plannedClaim(replacement.NodeClaim))
	}
	return planned
}
