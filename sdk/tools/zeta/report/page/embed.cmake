# Makes OUTPUT, a source file of C with the bytes of the page's parts in FOLDER.
string(REPEAT "." 100 many)
set(text "#include <stddef.h>\n")
foreach(part IN ITEMS css:report.css script:report.js)
    string(REPLACE ":" ";" part ${part})
    list(GET part 0 name)
    list(GET part 1 file)
    file(READ ${FOLDER}/${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(${many})" "\\1\n" bytes "${bytes}")
    string(APPEND text "\nextern const unsigned char zeta_page_${name}[];\nextern const size_t zeta_page_${name}_bytes;\n\nconst unsigned char zeta_page_${name}[] = {\n${bytes}\n};\n"
        "const size_t zeta_page_${name}_bytes = sizeof(zeta_page_${name});\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
