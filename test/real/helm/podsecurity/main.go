// Podsecurity reads a JSON list of pods from stdin, and writes a list of the strictest Pod Security Standard that each of
// them meets: "restricted", "baseline" or "privileged", with what the next one forbids.
package main

import (
	"encoding/json"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type verdict struct {
	Level     api.Level `json:"level"`
	Forbidden string    `json:"forbidden,omitempty"`
}

func verdictOf(evaluator policy.Evaluator, pod *corev1.Pod) verdict {
	forbidden := ""
	for _, level := range []api.Level{api.LevelRestricted, api.LevelBaseline} {
		version := api.LevelVersion{Level: level, Version: api.LatestVersion()}
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(version, &pod.ObjectMeta, &pod.Spec))
		if result.Allowed {
			return verdict{level, forbidden}
		}
		forbidden = result.ForbiddenDetail()
	}
	return verdict{api.LevelPrivileged, forbidden}
}

func main() {
	log.SetFlags(0)
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		log.Fatal(err)
	}
	var pods []corev1.Pod
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&pods); err != nil {
		log.Fatal(err)
	}
	verdicts := []verdict{}
	for i := range pods {
		verdicts = append(verdicts, verdictOf(evaluator, &pods[i]))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}
