package scenario

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = `{
  "now": "2026-01-01T00:00:00Z",
  "nodePools": [{"metadata": {"name": "default"}, "spec": {"template": {"metadata": {"labels": {"team": "a"}}}}}],
  "instanceTypes": [{"name": "m5.large", "capacity": {"cpu": "2"}, "offerings": [{"zone": "a", "price": 0.1, "reservationCapacity": 3}]}]
}`

func TestReadsPlainAndGzippedFiles(t *testing.T) {
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if _, err := writer.Write([]byte(small)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"1.scenario.json": []byte(small), "1.scenario.json.gz": zipped.Bytes()} {
		s, err := Read[Scenario](write(t, name, data))
		if err != nil {
			t.Fatal(err)
		}
		if s.Now.Year() != 2026 || s.NodePools[0].Name != "default" || s.NodePools[0].Spec.Template.Labels["team"] != "a" {
			t.Errorf("%s: pools are %v at %v", name, s.NodePools, s.Now)
		}
		machine := s.InstanceTypes[0]
		if machine.Capacity.Cpu().Value() != 2 || machine.Offerings[0].ReservationCapacity != 3 {
			t.Errorf("%s: the type is %v", name, machine)
		}
	}
}

func TestSaysWhichFileIsWrong(t *testing.T) {
	for name, data := range map[string]string{"1.plan.json": `{"newNodeClaims": {}}`, "2.plan.json.gz": "\x1f\x8b no more"} {
		if _, err := Read[Plan](write(t, name, []byte(data))); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
