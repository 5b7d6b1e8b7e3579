// Says when budgets' schedules hit by robfig/cron, as Karpenter uses it (karpenter: pkg/apis/v1/nodepool.go,
// Budget.IsActive): standard parser, UTC. Reads [[text, [ms since the epoch...]]...] from stdin and writes [[text,
// [ms...], [next ms or null...] or null when it does not parse]...].
package main

import (
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/robfig/cron/v3"
)

func main() {
	var cases [][2]json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		log.Fatal(err)
	}
	answers := make([][3]any, 0, len(cases))
	for _, one := range cases {
		var text string
		var after []int64
		if err := json.Unmarshal(one[0], &text); err != nil {
			log.Fatal(err)
		}
		if err := json.Unmarshal(one[1], &after); err != nil {
			log.Fatal(err)
		}
		answers = append(answers, [3]any{text, after, next(text, after)})
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

func next(text string, after []int64) []*int64 {
	schedule, err := cron.ParseStandard("TZ=UTC " + text)
	if err != nil {
		return nil
	}
	hits := make([]*int64, 0, len(after))
	for _, at := range after {
		hit := schedule.Next(time.UnixMilli(at).UTC())
		if hit.IsZero() {
			hits = append(hits, nil)
			continue
		}
		ms := hit.UnixMilli()
		hits = append(hits, &ms)
	}
	return hits
}
