// Says how Kubernetes and Go read amounts. Reads lines of a kind (quantity, integer or duration), a tab and a text from
// stdin, and writes a line for each: what is read, or "-" where the text is refused. A quantity is written in
// thousandths, rounded away from zero, and more than 2^63-1 units as 2^63-1 units; a duration in nanoseconds.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		kind, text, _ := strings.Cut(in.Text(), "\t")
		fmt.Fprintln(out, read(kind, text))
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
}

const refused = "-"

func read(kind, text string) string {
	switch kind {
	case "quantity":
		if quantity, err := resource.ParseQuantity(text); err == nil {
			return thousandths(quantity)
		}
	case "integer":
		if integer, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(integer, 10)
		}
	case "duration":
		if duration, err := time.ParseDuration(text); err == nil {
			return strconv.FormatInt(duration.Nanoseconds(), 10)
		}
	default:
		log.Fatalf("kind %q is none of quantity, integer and duration", kind)
	}
	return refused
}

var most = new(big.Int).Mul(big.NewInt(1000), big.NewInt(1<<63-1))

func thousandths(quantity resource.Quantity) string {
	amount := quantity.AsDec()
	digits := len(new(big.Int).Abs(amount.UnscaledBig()).String())
	whole := most
	if amount.Sign() == 0 {
		return "0"
	}
	// Without this, the largest exponents would be written out.
	if digits-int(amount.Scale()) <= 40 {
		rounded := new(inf.Dec).Round(amount, 3, inf.RoundUp)
		if size := new(big.Int).Abs(rounded.UnscaledBig()); size.Cmp(most) < 0 {
			whole = size
		}
	}
	if amount.Sign() < 0 {
		return "-" + whole.String()
	}
	return whole.String()
}
