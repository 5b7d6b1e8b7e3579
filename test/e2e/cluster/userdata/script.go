package userdata

import (
	"errors"
	"strings"
)

const bootstrapScript = "/etc/eks/bootstrap.sh"

// readShell finds the call of bootstrap.sh in a script and reads its arguments.
func readShell(script string) (Config, error) {
	c := Config{Family: "AL2"}
	for _, line := range strings.Split(strings.ReplaceAll(script, "\\\n", " "), "\n") {
		at := strings.Index(line, bootstrapScript)
		if at < 0 || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		words, err := shellWords(line[at+len(bootstrapScript):])
		if err != nil {
			return c, err
		}
		return c, c.bootstrapArguments(words)
	}
	return c, errors.New("the script does not call " + bootstrapScript)
}

func (c *Config) bootstrapArguments(words []string) error {
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "--") {
			c.ClusterName = words[i]
			continue
		}
		if i+1 == len(words) {
			return errors.New(bootstrapScript + ": " + words[i] + " has no value")
		}
		name, value := words[i], words[i+1]
		i++
		switch name { // bootstrap.sh takes a value only after a space
		case "--apiserver-endpoint":
			c.Endpoint = value
		case "--b64-cluster-ca":
			c.CA = value
		case "--kubelet-extra-args":
			flags, err := shellWords(value)
			if err != nil {
				return err
			}
			if err := c.flags(flags); err != nil {
				return err
			}
		case "--use-max-pods", "--dns-cluster-ip", "--ip-family", "--service-ipv6-cidr", "--local-disks", "--container-runtime", "--pause-container-version", "--enable-docker-bridge":
		default:
			return errors.New(bootstrapScript + " knows no argument " + name)
		}
	}
	return nil
}

// readWindows reads the arguments of Start-EKSBootstrap.ps1.
func readWindows(script string) (Config, error) {
	c := Config{Family: "Windows"}
	for _, line := range strings.Split(script, "\n") {
		at := strings.Index(line, "-EKSClusterName")
		if at < 0 {
			continue
		}
		words, err := shellWords(line[at:])
		if err != nil {
			return c, err
		}
		for i := 0; i+1 < len(words); i++ {
			switch words[i] {
			case "-EKSClusterName":
				c.ClusterName = words[i+1]
			case "-APIServerEndpoint":
				c.Endpoint = words[i+1]
			case "-Base64ClusterCA":
				c.CA = words[i+1]
			case "-KubeletExtraArgs":
				flags, err := shellWords(words[i+1])
				if err != nil {
					return c, err
				}
				if err := c.flags(flags); err != nil {
					return c, err
				}
			default:
				continue
			}
			i++
		}
		return c, nil
	}
	return c, errors.New("the script does not call Start-EKSBootstrap.ps1 with -EKSClusterName")
}

// shellWords splits a command line at spaces, with ' and " around what belongs together.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\r':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		case r == ';' || r == '&' || r == '|' || r == '>':
			return append(words, ending(&word, in)...), nil // the next command begins
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation mark in " + strings.TrimSpace(line) + " is not closed")
	}
	return append(words, ending(&word, in)...), nil
}

func ending(word *strings.Builder, in bool) []string {
	if !in {
		return nil
	}
	return []string{word.String()}
}
