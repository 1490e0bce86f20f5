/* What the consumers share: reading a picture of 8 x 8 grey values (a PGM file in text form), and the largest score. */
#pragma once

#include <stdio.h>

/* Fills pixels with values from 0 to 1; 0 for success. */
static int read_picture(const char* path, float pixels[64]) {
  char comment[256];
  int width, height, white, value;
  FILE* file = fopen(path, "r");
  if (!file) return 1;
  int failed = fscanf(file, "P2 ") != 0;
  while (!failed && fscanf(file, "#%255[^\n] ", comment) == 1) {
  }
  failed = failed || fscanf(file, "%d %d %d", &width, &height, &white) != 3 || width != 8 || height != 8 || white < 1;
  for (int i = 0; i < 64 && !failed; ++i) {
    failed = fscanf(file, "%d", &value) != 1;
    pixels[i] = failed ? 0 : (float)value / (float)white;
  }
  fclose(file);
  return failed;
}

static int best_of(const float* scores, int count) {
  int best = 0;
  for (int i = 1; i < count; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}
