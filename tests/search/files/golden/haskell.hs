{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module: Acme.Cache
--
-- A cache of values.
module Acme.Cache
  ( Cache (..)
  , insert
  , lookup'
  ) where

import Control.Monad (unless, when)
import qualified Data.Map.Strict as Map
import Data.Text (Text)

-- | A cache that forgets the oldest.
data Cache k v = Cache
  { entries :: !(Map.Map k v) -- ^ what is in it
  , limit   :: {-# UNPACK #-} !Int
  }
  deriving (Eq, Show)

-- | Why something is not found.
data Problem
  = Missing Text
  | Expired
  deriving stock (Show)

newtype Key = Key { unKey :: Text }
  deriving newtype (Eq, Ord)

type Clock = IO Int

-- | What can be cached.
class Cached a where
  -- | Its key.
  keyOf :: a -> Key

  -- | How long it is kept.
  lifetime :: a -> Int
  lifetime _ = 60

instance Cached Text where
  keyOf = Key
  lifetime text
    | text == "" = 0
    | otherwise = 10

instance Semigroup (Cache k v) where
  a <> b = a { entries = entries a `Map.union` entries b }

-- | Adds a value. The oldest one goes if there is no room.
--
-- >>> insert 1 'a' (empty 3)
insert :: Ord k => k -> v -> Cache k v -> Cache k v
insert key value cache
  | Map.size (entries cache) >= limit cache = insert key value (shrink cache)
  | otherwise = cache { entries = Map.insert key value (entries cache) }
  where
    shrink old = old { entries = Map.deleteMin (entries old) }

-- Finds a value
-- by its key.
lookup' :: Ord k => k -> Cache k v -> Either Problem v
lookup' key cache = case Map.lookup key (entries cache) of
  Just value -> Right value
  Nothing -> Left Expired

{-| An empty cache. -}
empty :: Int -> Cache k v
empty = Cache Map.empty

isFull :: Cache k v -> Bool
isFull Cache { entries = e, limit = l } = Map.size e >= l

-- | Merges two.
infixr 5 <+>
(<+>) :: Ord k => Cache k v -> Cache k v -> Cache k v
Cache a n <+> Cache b m = Cache (Map.union a b) (max n m)

depth :: Int -> Int
depth 0 = 0
depth n = 1 + depth (n - 1)

report :: Show v => Cache Key v -> IO ()
report cache = do
  unless (Map.null (entries cache)) $
    mapM_ print (Map.elems (entries cache))
  when (isFull cache) $ putStrLn "full"

keysOf :: Cache Key v -> [Text]
keysOf (Cache found _) = map unKey . sortOn length $ Map.keys found

first :: Either Problem (Key, v) -> Maybe Key
first (Right (Key text, _)) = text `seq` Just $ Key text
first problem
  | Left (Missing text) <- problem = parse text >>= check
  | otherwise = Nothing

load :: IO (Maybe Key)
load = do
  Prelude.Just name <- listToMaybe <$> getArgs
  pure (first name) & fmap trace

sizes :: [Cache k v] -> [Int]
sizes = map (Map.size . entries) . filter isFull . reverse . Map.elems

named :: [Key] -> [Text]
named = (`sortedBy` unKey) . (map unKey <$>)
