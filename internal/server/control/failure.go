package control

import (
	"fmt"
	"net/http"
)

// failure is an error of this API, and its JSON.
type failure struct {
	status int

	Message  string `json:"error"`
	Found    string `json:"found,omitzero"`
	Expected string `json:"expected,omitzero"`
	Hint     string `json:"hint,omitzero"`
	// Type and Text repeat the message where an SDK looks for it: the server may refuse a client of the service, too,
	// and the client's user should learn why.
	Type string `json:"__type,omitzero"`
	Text string `json:"message,omitzero"`
}

func (f *failure) Error() string { return f.Message }

// badRequest is the error for a body or parameter that cannot be read.
func badRequest(message, found, expected, hint string) error {
	return &failure{status: http.StatusBadRequest, Message: message, Found: found, Expected: expected, Hint: hint}
}

// missing is the error for a resource that does not exist.
func missing(message, found, expected, hint string) error {
	return &failure{status: http.StatusNotFound, Message: message, Found: found, Expected: expected, Hint: hint}
}

// conflict is the error for a request that the present state does not allow.
func conflict(message, found, expected, hint string) error {
	return &failure{status: http.StatusConflict, Message: message, Found: found, Expected: expected, Hint: hint}
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, f *failure) {
	if f.status == http.StatusForbidden {
		f.Type = "com.amazon.coral.service#AccessDeniedException"
		f.Text = fmt.Sprintf("isr-sim: %s: found %s, expected %s", f.Message, f.Found, f.Expected)
	}
	answer(w, f.status, f)
}
