# As many threads as the device has.
#! spin groups=256 items=8
# Once and again until all have begun; none ends.
python
while True:
    gdb.execute("tbreak sums.cl:37")
    gdb.execute("continue")
    if len(gdb.selected_inferior().threads()) == 2049:
        break
print("names:", len({thread.name for thread in gdb.selected_inferior().threads()}))
end
#= ^names: 2049
info threads 2040-2049
#= ^  2049 +Thread 1.2049 "1\.1\.31\.15 group 255,0,0 local 7,0,0"
thread find group 255,0,0 local 7,0,0
#= Thread \d+ has target name '\d\.\d\.\d+\.\d+ group 255,0,0 local 7,0,0'
thread apply 17 p $_thread
#= = 17
set var numbers[1] = 0
continue
#= exited normally
