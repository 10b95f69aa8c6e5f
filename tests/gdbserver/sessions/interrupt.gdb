# Ctrl-C stops a kernel that would never end.
#! spin groups=1 items=1 told=1
break spin
continue
#= hit Breakpoint 1
delete
python
import os, signal, threading, time
def press():
    while not os.path.exists("spinning"):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
end
continue
#= received signal SIGINT
backtrace 1
#= ^#0 .* spin \(numbers=
p numbers[0]
#= = 77
set var numbers[1] = 0
continue
#= ^numbers: 77 0 1024
#= exited normally
