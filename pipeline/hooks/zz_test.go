package hooks
import ("testing";"strings";"time")
func TestZZ(t *testing.T){
 for _,p:=range []string{strings.Repeat("(",1300)+"a"+strings.Repeat(")*",1300),strings.Repeat("a{1,1000}",450),strings.Repeat("(?:",400)+"a"+strings.Repeat("){1000}",400),strings.Repeat("[\\p{L}]",580),strings.Repeat("(?=",900)+"a"+strings.Repeat(")",900),strings.Repeat("a?",2000)+strings.Repeat("a",90), "(?i)"+strings.Repeat("[a-zé]",600), "(a{2147483647}){2147483647}x", strings.Repeat("(a|b|ab)*", 400)+"x"}{
  b:=time.Now(); m:=newMatcher(p); c:=time.Since(b); b=time.Now(); ok,err:=m.matches([]string{strings.Repeat("ab",500)}); e:=""; if err!=nil {e=err.Error(); if len(e)>80{e=e[:80]}}
  t.Log(len(p),p[:10],c,time.Since(b),ok,e)
 }
}
