import type { Readable, Wrap } from './readable.ts';

/** What a processor calls itself, to seccomp and to Linux. */
type Architecture = 'x64' | 'arm64';

/** A system call's number on x64 and on arm64; null: it is not there. */
type Numbers = readonly [x64: number, arm64: number | null];

/** Calls by which one process reaches another, the network, or what belongs to the whole machine. */
const DENIED: Readonly<Record<string, Readonly<Record<string, Numbers>>>> = {
  /** But `socketpair`, which connects a process with itself: the PDF library has threads that use it. */
  network: {
    socket: [41, 198],
    connect: [42, 203],
    bind: [49, 200],
    listen: [50, 201],
    accept: [43, 202],
    accept4: [288, 242],
  },
  processes: {
    fork: [57, null],
    vfork: [58, null],
    execveat: [322, 281],
    kill: [62, 129],
    tkill: [200, 130],
    rt_sigqueueinfo: [129, 138],
    rt_tgsigqueueinfo: [297, 240],
    pidfd_open: [434, 434],
    pidfd_getfd: [438, 438],
    pidfd_send_signal: [424, 424],
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
    process_madvise: [440, 440],
    process_mrelease: [448, 448],
    kcmp: [312, 272],
    migrate_pages: [256, 238],
    move_pages: [279, 239],
    setpriority: [141, 140],
    ioprio_set: [251, 30],
    sched_setaffinity: [203, 122],
    sched_setparam: [142, 118],
    sched_setscheduler: [144, 119],
    sched_setattr: [314, 274],
  },
  shared: {
    shmget: [29, 194],
    shmat: [30, 196],
    shmctl: [31, 195],
    semget: [64, 190],
    semctl: [66, 191],
    msgget: [68, 186],
    msgctl: [71, 187],
    mq_open: [240, 180],
    mq_unlink: [241, 181],
    add_key: [248, 217],
    request_key: [249, 218],
    keyctl: [250, 219],
  },
  /** What Landlock does not ask about. */
  files: {
    chmod: [90, null],
    fchmod: [91, 52],
    fchmodat: [268, 53],
    chown: [92, null],
    lchown: [94, null],
    fchown: [93, 55],
    fchownat: [260, 54],
    truncate: [76, 45],
    utime: [132, null],
    utimes: [235, null],
    utimensat: [280, 88],
    futimesat: [261, null],
    setxattr: [188, 5],
    lsetxattr: [189, 6],
    fsetxattr: [190, 7],
    removexattr: [197, 14],
    lremovexattr: [198, 15],
    fremovexattr: [199, 16],
    inotify_init: [253, null],
    inotify_init1: [294, 26],
    fanotify_init: [300, 262],
    name_to_handle_at: [303, 264],
    open_by_handle_at: [304, 265],
  },
  machine: {
    mount: [165, 40],
    umount2: [166, 39],
    pivot_root: [155, 41],
    chroot: [161, 51],
    open_tree: [428, 428],
    move_mount: [429, 429],
    fsopen: [430, 430],
    fsmount: [432, 432],
    mount_setattr: [442, 442],
    unshare: [272, 97],
    setns: [308, 268],
    bpf: [321, 280],
    perf_event_open: [298, 241],
    userfaultfd: [323, 282],
    seccomp: [317, 277],
    landlock_create_ruleset: [444, 444],
    init_module: [175, 105],
    finit_module: [313, 273],
    delete_module: [176, 106],
    kexec_load: [246, 104],
    kexec_file_load: [320, 294],
    reboot: [169, 142],
    swapon: [167, 224],
    swapoff: [168, 225],
    acct: [163, 89],
    quotactl: [179, 60],
    quotactl_fd: [443, 443],
    settimeofday: [164, 170],
    clock_settime: [227, 112],
    adjtimex: [159, 171],
    clock_adjtime: [305, 266],
    sethostname: [170, 161],
    setdomainname: [171, 162],
    syslog: [103, 116],
    vhangup: [153, 58],
    personality: [135, 92],
    iopl: [172, null],
    ioperm: [173, null],
    modify_ldt: [154, null],
  },
};

/** Calls that programs do without where the kernel has them not. */
const UNKNOWN: Readonly<Record<string, Numbers>> = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  clone3: [435, 435],
};

/** Calls that are allowed by what they are asked to do. */
const ASKED = {
  clone: [56, 220],
  tgkill: [234, 131],
  prlimit64: [302, 261],
  fcntl: [72, 25],
  ioctl: [16, 29],
} as const satisfies Record<string, Numbers>;

/** The first number after those that were looked through: what is newer is unknown, as on an older kernel. */
const NEWER_FROM = 452;

interface Calls {
  readonly denied: readonly number[];
  readonly unknown: readonly number[];
  readonly asked: Readonly<Record<keyof typeof ASKED, number>>;
}

/** The numbers of one architecture. */
const callsOf = (architecture: Architecture): Calls => {
  const at = architecture === 'x64' ? 0 : 1;
  const those = (table: Readonly<Record<string, Numbers>>): readonly number[] =>
    Object.values(table).flatMap((numbers) => numbers[at] ?? []);
  const { clone, tgkill, prlimit64, fcntl, ioctl } = ASKED;
  return {
    denied: Object.values(DENIED).flatMap(those),
    unknown: those(UNKNOWN),
    asked: {
      clone: clone[at],
      tgkill: tgkill[at],
      prlimit64: prlimit64[at],
      fcntl: fcntl[at],
      ioctl: ioctl[at],
    },
  };
};

/** Stands in the filter where the launcher puts the process's own id, which nobody knows before. */
const PID_MARK = 'PID!';

/** Classic BPF: load a word of `struct seccomp_data`, compare it, return. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
/** The low half of each argument. */
const FIRST_AT = 16;
const SECOND_AT = 24;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const ERROR = 0x00050000;
const DENY = ERROR | 1; // EPERM
const NOT_THERE = ERROR | 38; // ENOSYS

const AUDIT_ARCHITECTURE: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const CLONE_THREAD = 0x10000;
/** F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to others by way of a file. */
const FCNTL_DENIED = [8, 10, 15];
/** FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX. */
const IOCTL_DENIED = [0x8901, 0x8902, 0x5412, 0x541c];

type Step = readonly [code: number, yes: number, no: number, operand: number | typeof PID_MARK];

const give = (answer: number): Step => [RETURN, 0, 0, answer];
const load = (at: number): Step => [LOAD, 0, 0, at];
/** Ends with `answer` when the loaded word is `value`. */
const endIf = (value: number | typeof PID_MARK, answer: number): readonly Step[] => [
  [IF_EQUAL, 0, 1, value],
  give(answer),
];

/** What is done for one call alone; `steps` end by themselves. */
const onCall = (number: number, steps: readonly Step[]): readonly Step[] => [
  [IF_EQUAL, 0, steps.length, number],
  ...steps,
];

const encoded = (steps: readonly Step[]): Buffer =>
  Buffer.concat(
    steps.map(([code, yes, no, operand]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt16LE(code, 0);
      bytes.writeUInt8(yes, 2);
      bytes.writeUInt8(no, 3);
      if (typeof operand === 'number') bytes.writeUInt32LE(operand, 4);
      else bytes.write(operand, 4, 'latin1');
      return bytes;
    }),
  );

/**
 * The filter of a process that parses, as seccomp wants it: it makes no socket and no process, signals and
 * limits nobody but itself, and changes nothing of the machine. Threads, memory and open files are left to it.
 */
const seccompFilter = (architecture: Architecture): Buffer => {
  const { denied, unknown, asked } = callsOf(architecture);
  const deniedArguments = (values: readonly number[]): readonly Step[] => [
    load(SECOND_AT),
    ...values.flatMap((value) => endIf(value, DENY)),
    give(ALLOW),
  ];
  return encoded([
    load(ARCHITECTURE_AT),
    [IF_EQUAL, 1, 0, AUDIT_ARCHITECTURE[architecture]],
    give(KILL),
    load(NUMBER_AT),
    [IF_AT_LEAST, 0, 1, NEWER_FROM],
    give(NOT_THERE),
    ...onCall(asked.clone, [load(FIRST_AT), [IF_ANY_BIT, 1, 0, CLONE_THREAD], give(DENY), give(ALLOW)]),
    ...onCall(asked.tgkill, [load(FIRST_AT), ...endIf(PID_MARK, ALLOW), give(DENY)]),
    ...onCall(asked.prlimit64, [load(FIRST_AT), ...endIf(0, ALLOW), ...endIf(PID_MARK, ALLOW), give(DENY)]),
    ...onCall(asked.fcntl, deniedArguments(FCNTL_DENIED)),
    ...onCall(asked.ioctl, deniedArguments(IOCTL_DENIED)),
    ...unknown.flatMap((number) => endIf(number, NOT_THERE)),
    ...denied.flatMap((number) => endIf(number, DENY)),
    give(ALLOW),
  ]);
};

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
