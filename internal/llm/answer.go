package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/spokewire/spokewire/internal/dynamic"
)

// Reasons why a model gave no rating, beside those of package dynamic.
const (
	Refused   = "Refused"   // the model says that it will not
	Truncated = "Truncated" // it came to no end
)

// MaxAnswer bounds an answer, in bytes.
const MaxAnswer = 256 << 10

// maxReason bounds the reason of a rating, in bytes.
const maxReason = 200

// Rating is what a model says of a cluster.
type Rating struct {
	// Score is from -100 to 100.
	Score float64
	// Reason is the model's, in a sentence.
	Reason string
}

// ReadAnswer reads a chat completion. Only a whole answer in the shape that
// was asked for is a rating: nothing is guessed from prose, or from a number
// that is out of range.
func ReadAnswer(body []byte) (Rating, *dynamic.Failure) {
	content, failed := contentOf(body)
	if failed != nil {
		return Rating{}, failed
	}
	var answer struct {
		Score  *float64 `json:"score"`
		Reason *string  `json:"reason"`
	}
	d := json.NewDecoder(strings.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&answer); err != nil {
		return Rating{}, dynamic.Failf(dynamic.NotJSON, "the model answered %.120q, want {\"score\":NUMBER,\"reason\":TEXT}: %v", content, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Rating{}, dynamic.Failf(dynamic.NotJSON, "the model answered more than one JSON object: %.120q", content)
	}
	switch {
	case answer.Score == nil || answer.Reason == nil:
		return Rating{}, dynamic.Failf(dynamic.BadAnswer, "the model's answer lacks score or reason: %.120q", content)
	case math.IsNaN(*answer.Score) || *answer.Score < -100 || *answer.Score > 100:
		return Rating{}, dynamic.Failf(dynamic.NotANumber, "the model's score is %g, want -100 to 100", *answer.Score)
	}
	return Rating{Score: *answer.Score, Reason: oneLine(*answer.Reason)}, nil
}

// contentOf is what the model says in a completion.
func contentOf(body []byte) (string, *dynamic.Failure) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return "", dynamic.Failf(dynamic.EmptyAnswer, "the answer is empty")
	}
	var completion struct {
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &completion); err != nil {
		return "", dynamic.Failf(dynamic.NotJSON, "the answer is no chat completion: %.120q", body)
	}
	if len(completion.Choices) == 0 {
		return "", dynamic.Failf(dynamic.BadAnswer, "the answer has no choices: %.120q", body)
	}
	choice := completion.Choices[0]
	switch {
	case choice.Message.Refusal != "":
		return "", dynamic.Failf(Refused, "the model refuses: %.200q", choice.Message.Refusal)
	case choice.Finish != "stop":
		return "", dynamic.Failf(Truncated, "the model stopped by %.50q, not by itself: %.120q", choice.Finish, choice.Message.Content)
	case strings.TrimSpace(choice.Message.Content) == "":
		return "", dynamic.Failf(dynamic.EmptyAnswer, "the model says nothing")
	}
	return choice.Message.Content, nil
}

// oneLine cuts a reason to a label's length.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= maxReason {
		return text
	}
	end := maxReason
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
