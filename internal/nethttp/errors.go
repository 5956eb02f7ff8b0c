package nethttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/runcode-go/runcode/tools"
)

// The codes of failures.
const (
	CodeAddress   = "HTTP_ADDRESS_REFUSED"    // not public
	CodeConnect   = "HTTP_CONNECT_FAILED"     // no such host, nobody listens, no valid certificate
	CodeTimeout   = "HTTP_TIMEOUT"            //
	CodeRedirects = "HTTP_TOO_MANY_REDIRECTS" //
	CodeProtocol  = "HTTP_PROTOCOL_ERROR"     // the connection broke or what came is no HTTP
)

// Fail is a failure with a code, for the tools that use this package.
func Fail(code string, cause error, format string, args ...any) error {
	return &tools.Error{Name: "HTTPError", Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}

// addressError refuses a connection. It stops the dialer's way to an error that
// says why.
type addressError struct{ address, kind string }

func (e *addressError) Error() string {
	return fmt.Sprintf("the address %s is %s", e.address, e.kind)
}

// explain puts an error of the client into words that hold no URL and no header:
// a URL may be long, and both may hold secrets.
func (r Request) explain(ctx, limited context.Context, err error) error {
	doing := fmt.Sprintf("%s %s", r.Method, HostPort(r.URL))
	var special *addressError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return Fail(CodeTimeout, err, "%s: no complete answer within %d ms; the request may have been carried out", doing, r.Timeout.Milliseconds())
	case errors.As(err, &special):
		return Fail(CodeAddress, err, "%s: %v; only public addresses are connected to", doing, special)
	case errors.As(err, &dns):
		return Fail(CodeConnect, err, "%s: the host name cannot be resolved: %s", doing, dns.Err)
	case errors.As(err, &certificate):
		return Fail(CodeConnect, err, "%s: the certificate is not valid: %v", doing, certificate.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return Fail(CodeConnect, err, "%s: connection refused; nobody listens there", doing)
	case errors.As(err, &op) && op.Op == "dial":
		return Fail(CodeConnect, err, "%s: cannot connect: %v", doing, op.Err)
	case errors.Is(err, errRedirects):
		return Fail(CodeRedirects, err, "%s: more than %d redirects", doing, maxRedirects)
	case errors.Is(err, http.ErrSchemeMismatch):
		return Fail(CodeProtocol, err, "%s: the server answers http to https", doing)
	}
	return Fail(CodeProtocol, err, "%s: %v", doing, err)
}

var errRedirects = errors.New("too many redirects")
