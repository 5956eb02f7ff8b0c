package sandbox

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Integrity says what a process may write to: what is of its level or below.
type Integrity uint32

// The levels below those that users have.
const (
	Untrusted Integrity = 0      // as good as nothing
	Low       Integrity = 0x1000 // a few places that are meant for it
)

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// RestrictedToken is that of this process without its privileges, for a process to
// be started with. The caller closes it.
func RestrictedToken() (windows.Token, error) {
	var own, restricted windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_QUERY|windows.TOKEN_DUPLICATE|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_ADJUST_DEFAULT, &own)
	if err != nil {
		return 0, os.NewSyscallError("OpenProcessToken", err)
	}
	defer own.Close()
	losing, err := privileges(own)
	if err != nil {
		return 0, err
	}
	if ok, _, err := createRestrictedToken.Call(uintptr(own), 0, 0, 0, uintptr(len(losing)), uintptr(unsafe.Pointer(unsafe.SliceData(losing))), 0, 0, uintptr(unsafe.Pointer(&restricted))); ok == 0 {
		return 0, os.NewSyscallError("CreateRestrictedToken", err)
	}
	return restricted, nil
}

// LowerIntegrity sets the level of a token's process, or of those that will be
// started with it. Nothing raises it again.
func LowerIntegrity(token windows.Token, level Integrity) error {
	sid, err := windows.StringToSid(fmt.Sprintf("S-1-16-%d", level))
	if err != nil {
		return err
	}
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: sid, Attributes: windows.SE_GROUP_INTEGRITY}}
	return os.NewSyscallError("SetTokenInformation", windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size()))
}

// OwnToken is that of this process, with the right to lower its integrity. The
// caller closes it.
func OwnToken() (token windows.Token, err error) {
	err = windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_QUERY|windows.TOKEN_ADJUST_DEFAULT, &token)
	return token, os.NewSyscallError("OpenProcessToken", err)
}

// IntegrityOf is the level of a token.
func IntegrityOf(token windows.Token) (Integrity, error) {
	info, err := tokenInformation(token, windows.TokenIntegrityLevel)
	if err != nil {
		return 0, err
	}
	sid := (*windows.Tokenmandatorylabel)(unsafe.Pointer(&info[0])).Label.Sid
	return Integrity(sid.SubAuthority(uint32(sid.SubAuthorityCount()) - 1)), nil
}

// Privileges counts those of a token, beside that of passing through directories,
// which everyone has.
func Privileges(token windows.Token) (int, error) {
	all, err := privileges(token)
	return len(all), err
}

func privileges(token windows.Token) ([]windows.LUIDAndAttributes, error) {
	info, err := tokenInformation(token, windows.TokenPrivileges)
	if err != nil {
		return nil, err
	}
	passing := windows.LUID{LowPart: 23} // the same everywhere
	return slices.DeleteFunc((*windows.Tokenprivileges)(unsafe.Pointer(&info[0])).AllPrivileges(), func(privilege windows.LUIDAndAttributes) bool {
		return privilege.Luid == passing
	}), nil
}

// tokenInformation reads a class of a token's information. What it points to is in
// the same memory, which does not move.
func tokenInformation(token windows.Token, class uint32) ([]byte, error) {
	var size uint32
	windows.GetTokenInformation(token, class, nil, 0, &size)
	info := make([]byte, max(size, 64))
	err := windows.GetTokenInformation(token, class, &info[0], uint32(len(info)), &size)
	return info, os.NewSyscallError("GetTokenInformation", err)
}
