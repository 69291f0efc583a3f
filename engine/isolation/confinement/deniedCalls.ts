/** What a processor calls itself, to seccomp and to Linux. */
export type Architecture = 'x64' | 'arm64';

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
export const NEWER_FROM = 452;

export interface Calls {
  readonly denied: readonly number[];
  readonly unknown: readonly number[];
  readonly asked: Readonly<Record<keyof typeof ASKED, number>>;
}

/** The numbers of one architecture. */
export const callsOf = (architecture: Architecture): Calls => {
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
