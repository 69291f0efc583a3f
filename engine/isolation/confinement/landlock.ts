import type { Architecture } from './deniedCalls.ts';
import type { Readable, Wrap } from './readable.ts';
import { PID_MARK, seccompFilter } from './seccompFilter.ts';

/** Part of every Debian and Ubuntu, their smallest images included. */
const PERL = '/usr/bin/perl';

/** The numbers of prctl, seccomp and capset. */
const CALLS: Readonly<Record<Architecture, string>> = { x64: '157,317,126', arm64: '167,277,91' };

/**
 * Confines itself, then becomes the program: without privileges to gain or to keep, reading only what it is
 * told and writing in its own folder, by Landlock as far as this kernel has it, and under a seccomp filter.
 * Perl calls the kernel, for Node cannot and nothing is to be compiled. Arguments: numbers of system calls,
 * the filter in hex, `r:<path>` to read, `w:<path>` to write too, `x:<path>` to read and start, `--`, the
 * program.
 */
const LAUNCHER = String.raw`use strict;
my ($prctl, $seccomp, $capset) = split /,/, shift @ARGV;
my $filter = pack 'H*', shift @ARGV;
my @rules;
while (defined(my $rule = shift @ARGV)) { last if $rule eq '--'; push @rules, [split /:/, $rule, 2]; }
sub must { my ($what, $done) = @_; die "$what: $!\n" if $done < 0; return $done; }

if ($> == 0) {
  syscall($prctl, 24, $_, 0, 0, 0) for 0 .. 63;
  my ($head, $none) = (pack('LL', 0x20080522, 0), "\0" x 24);
  must('capset', syscall($capset, $head, $none));
}
must('no_new_privs', syscall($prctl, 38, 1, 0, 0, 0));

my $abi = syscall(444, 0, 0, 1);
if ($abi >= 1) {
  my $files = $abi >= 5 ? 0xffff : $abi >= 3 ? 0x7fff : $abi >= 2 ? 0x3fff : 0x1fff;
  my $handled = pack('Q', $files) . ($abi >= 4 ? pack('Q', 3) : '') . ($abi >= 6 ? pack('Q', 3) : '');
  my $ruleset = must('ruleset', syscall(444, $handled, length $handled, 0));
  for (@rules) {
    my ($kind, $path) = @$_;
    sysopen(my $file, $path, 010000000) or next;
    my $rights = $kind eq 'x' ? 5 : $kind eq 'w' ? (446 | 0x4000) & $files : 4;
    my $rule = pack 'Ql', $rights | (-d $path ? 8 : 0), fileno $file;
    must("rule for $path", syscall(445, $ruleset, 1, $rule, 0));
  }
  must('landlock', syscall(446, $ruleset, 0));
}

$filter =~ s/${PID_MARK}/pack 'L', $$/ge;
my $program = pack 'S x![P] P', length($filter) / 8, $filter;
must('seccomp', syscall($seccomp, 1, 0, $program));
exec { $ARGV[0] } @ARGV;
die "exec: $!\n";
`;

/** The command that starts a program confined by the kernel. */
export const underLandlock = ({ code, system, programs }: Readable, architecture: Architecture): Wrap => {
  const filter = seccompFilter(architecture).toString('hex');
  const rules = [...[...code, ...system].map((path) => `r:${path}`), ...programs.map((path) => `x:${path}`)];
  const before = [PERL, '-e', LAUNCHER, CALLS[architecture], filter, ...rules];
  return (program, folder) => [...before, ...(folder === undefined ? [] : [`w:${folder}`]), '--', ...program];
};
