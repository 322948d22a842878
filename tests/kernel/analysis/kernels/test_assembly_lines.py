"""Which line of a kernel each line of its compiled texts comes from."""

from __future__ import annotations

from compilescope.analysis.kernels.assembly_lines import read


def test_lines_of_mlir() -> None:
    text = """#loc = loc("/x/kernel.py":3:0)
#loc1 = loc("/x/standard.py":9:1)
module {
  %0 = "tt.reduce"(%a) ({
    %1 = arith.addf %a, %b : f32 loc(#loc4)
  }) : f32 loc(#loc5)
  %2 = tt.load %p loc("tmp0"("/x/kernel.py":7:1))
  %3 = tt.splat %p {note = "a loc(1) b"} : i32
} loc(#loc)
#loc2 = loc("/x/kernel.py":5:1)
#loc3 = loc("tmp1"(#loc2))
#loc4 = loc(callsite(#loc1 at #loc3))
#loc5 = loc(fused[#loc1, #loc2])
"""
    listing = read("ttir", text, "kernel.py")
    assert listing.text.split("\n")[3] == "  }) : f32"
    assert listing.lines == [3, 5, 5, 5, 7, 0, 3]


def test_lines_of_llvm() -> None:
    text = """define void @k() !dbg !4 {
  %1 = add i32 1, 2, !dbg !5
  %2 = add i32 1, 2, !dbg !6, !range !9
  ret void
}

!0 = !DIFile(filename: "kernel.py", directory: "/x")
!1 = !DIFile(filename: "standard.py", directory: "/x")
!4 = distinct !DISubprogram(name: "k", file: !0, line: 3)
!5 = !DILocation(line: 8, column: 1, scope: !4)
!6 = !DILocation(line: 99, column: 1, scope: !7, inlinedAt: !5)
!7 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!9 = !{i32 0, i32 7}
"""
    listing = read("llir", text, "kernel.py")
    assert listing.lines == [0, 8, 8, 0, 0, 0, 0]
    assert "DI" not in listing.text
    assert "  %2 = add i32 1, 2, !range !9\n" in listing.text


def test_a_call_within_a_call_leads_to_the_line_that_began_it() -> None:
    # Of Triton 3.9, whose comments do not tell the calls any more.
    text = """
	.loc	1 7 9                           // kernel.py:7:9
	ld.global.b32 { %r1 }, [ %rd1 + 0 ];
	.loc	2 314 12, function_name $L__info_string0, inlined_at 1 8 9 // standard.py:314:12
	shfl.sync.bfly.b32 	%r5, %r1, 16, 31, -1;
	.loc	2 287 12, function_name $L__info_string0, inlined_at 2 314 12 // standard.py:287:12
	add.f32 	%r6, %r1, %r5;
	.file	1 "/folder/kernel.py"
	.file	2 "/triton/language/standard.py"
"""
    listing = read("ptx", text, "kernel.py")
    results = [line.split()[0] for line in listing.text.splitlines() if line.strip()]
    assert results == ["ld.global.b32", "shfl.sync.bfly.b32", "add.f32"]
    assert [line for line in listing.lines if line] == [7, 8, 8]


def test_lines_of_text_that_is_cut_short() -> None:
    for form in ("ttir", "llir", "ptx", "sass", "amdgcn"):
        assert read(form, "", "kernel.py").lines == []
        assert read(form, "\t.loc\t1 5", "kernel.py").text in ("", "\t.loc\t1 5\n")
    assert read("ttir", "  %0 = x loc(callsite(#loc9 at", "kernel.py").lines == [0]
