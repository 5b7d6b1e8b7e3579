// Says what Karpenter makes of kubelet settings: of expressions for instance types, of the quantities that they become,
// and of whole configurations. Reads one JSON document from stdin and writes its answers to stdout:
//
//	{"types": [[name, vcpus, memoryMib, enis, ipsPerEni, maxPods]...], "expressions": [...], "kubelets": [{...}...]}
//	{"expressions": [{"refused": text} or {"results": [["120", "120m", "128Mi", "120Gi"] or text...]}...],
//	 "kubelets": [[text...]...]}
//
// A result has the integer and the quantities that it becomes as cpu, memory and ephemeral-storage, "" where it is left
// out; a text is an error.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strconv"

	"github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/aws/karpenter-provider-aws/pkg/cel"
	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

type question struct {
	Types       [][6]any                   `json:"types"`
	Expressions []string                   `json:"expressions"`
	Kubelets    []v1.KubeletConfiguration `json:"kubelets"`
}

type expressionAnswer struct {
	Refused string `json:"refused,omitempty"`
	Results []any  `json:"results,omitempty"`
}

type answer struct {
	Expressions []expressionAnswer `json:"expressions"`
	Kubelets    [][]string         `json:"kubelets"`
}

func main() {
	ctrllog.SetLogger(logr.Discard())
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		log.Fatal(err)
	}
	environment, err := cel.NewEnvironment()
	if err != nil {
		log.Fatal(err)
	}
	var given answer
	for _, expression := range asked.Expressions {
		given.Expressions = append(given.Expressions, evaluate(environment, expression, asked.Types))
	}
	for _, kubelet := range asked.Kubelets {
		errs := []string{}
		for _, err := range v1.ValidateKubeletConfig(kubelet) {
			errs = append(errs, err.Error())
		}
		given.Kubelets = append(given.Kubelets, errs)
	}
	if err := json.NewEncoder(os.Stdout).Encode(given); err != nil {
		log.Fatal(err)
	}
}

func evaluate(environment *cel.CELEnvironment, expression string, types [][6]any) expressionAnswer {
	if err := environment.ValidateExpression(expression); err != nil {
		return expressionAnswer{Refused: err.Error()}
	}
	results := make([]any, 0, len(types))
	for _, one := range types {
		vars := variables(one)
		result, err := environment.EvaluateExpression(expression, vars)
		if err != nil {
			results = append(results, err.Error())
			continue
		}
		texts := []string{strconv.FormatInt(result, 10)}
		resolved, err := environment.ResolveResourceMap(context.Background(), map[string]string{
			"cpu": expression, "memory": expression, "ephemeral-storage": expression,
		}, func() (cel.InstanceTypeVars, error) { return vars, nil })
		if err != nil {
			log.Fatal(err)
		}
		for _, key := range []string{"cpu", "memory", "ephemeral-storage"} {
			texts = append(texts, resolved[key])
		}
		results = append(results, texts)
	}
	return expressionAnswer{Results: results}
}

func variables(one [6]any) cel.InstanceTypeVars {
	number := func(i int) int64 { return int64(one[i].(float64)) }
	return cel.InstanceTypeVars{
		InstanceType: one[0].(string),
		VCPUs:        number(1),
		MemoryMiB:    number(2),
		DefaultENIs:  number(3),
		IPsPerENI:    number(4),
		MaxPods:      number(5),
	}
}
