// Parsers reads a page of an exposition from stdin with the decoder that Go clients of Prometheus choose by the content
// type, the only argument. It writes the samples as JSON: labels, the name among them, and value.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

type sample struct {
	Labels model.Metric `json:"labels"`
	Value  string       `json:"value"`
}

func read(page io.Reader, contentType string) ([]sample, error) {
	format := expfmt.ResponseFormat(http.Header{"Content-Type": {contentType}})
	decoder := expfmt.NewDecoder(page, format)
	samples := []sample{}
	for {
		var family dto.MetricFamily
		if err := decoder.Decode(&family); errors.Is(err, io.EOF) {
			return samples, nil
		} else if err != nil {
			return nil, err
		}
		vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, &family)
		if err != nil {
			return nil, err
		}
		for _, one := range vector {
			samples = append(samples, sample{one.Metric, strconv.FormatFloat(float64(one.Value), 'g', -1, 64)})
		}
	}
}

func main() {
	log.SetFlags(0)
	samples, err := read(os.Stdin, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(samples); err != nil {
		log.Fatal(err)
	}
}
