/*
 * Folders for files that a run needs until it ends. One whose run was killed is removed by the next
 * run that makes one of the same kind in the same place.
 *
 * A lock on the folder (flock) shows that its run goes on; it is released with the process,
 * however that ends.
 */
#ifndef ZETA_TOOLS_PROGRAM_RUN_FOLDER_H
#define ZETA_TOOLS_PROGRAM_RUN_FOLDER_H

/** All zero bytes: none. */
struct zeta_run_folder {
    char *path; /**< owned; null: none */
    int lock;   /**< descriptor of the folder; -1 until it is locked */
};

/**
 * Makes "<parent>/zeta-<kind>-XXXXXX" for this user alone, and removes what killed runs left there
 * under such names. On failure prints why.
 */
int zeta_run_folder_make(struct zeta_run_folder *folder, const char *parent, const char *kind);

/** Where there is room for files of this user that nobody else needs to see. */
const char *zeta_run_folder_place(void);

/** Gives the folder a name under which it stays when this process has ended. */
void zeta_run_folder_keep(struct zeta_run_folder *folder);

/** Removes the folder with the files in it, and frees what is here. None: nothing happens. */
void zeta_run_folder_remove(struct zeta_run_folder *folder);

/** Frees what is here, and leaves what is in the file system. */
void zeta_run_folder_finish(struct zeta_run_folder *folder);

#endif
